"""A wrong optional member gives one clear line; caches that are done with are released once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import SearchStrategy

from cachecheck import strategies as cs
from cachecheck.errors import DecoderError, DecoderRaisedError, TargetError, Unsupported
from cachecheck.guard import Guarded
from cachecheck.laws import LAWS
from cachecheck.laws.runner import ScheduleRunner
from cachecheck.members import CAPABILITIES
from cachecheck.schedule import OPERATIONS, Append, Case, Merge, New, Schedule
from tests.decoders_for_tests import (
    WIDTH,
    Altered,
    Held,
    Listing,
    ListingInPlace,
    OnDevice,
    Sums,
)

Calls = Callable[[Guarded], Any]
ROWS = np.ones((2, WIDTH))


def held(decoder: Guarded, *tokens: int) -> Any:
    """A cache with these tokens."""
    return decoder.extend(tokens or (1, 2, 3), decoder.new_cache())[1]


def batch(decoder: Guarded) -> Any:
    """A batch of two rows."""
    return decoder.extend_batch([[1, 2], [3]], decoder.new_batch_cache(2))[1]


CALLS: dict[str, Calls] = {
    "state": lambda d: d.snapshot(held(d)),
    "fork": lambda d: d.fork(held(d)),
    "crop": lambda d: d.crop(held(d), 2),
    "save": lambda d: d.save(held(d)),
    "load": lambda d: d.load(b"\1\2"),
    "reset": lambda d: d.reset(held(d)),
    "release": lambda d: d.release(held(d)),
    "check_invariants": lambda d: d.broken_invariant(),
    "work": lambda d: d.work(),
    "new_batch_cache": lambda d: d.new_batch_cache(2),
    "extend_batch": lambda d: d.extend_batch([[1, 2], [3]], d.new_batch_cache(2)),
    "full_batch": lambda d: d.full_batch([[1, 2], [3]]),
    "reorder": lambda d: d.reorder(batch(d), [1, 0]),
    "merge": lambda d: d.merge([batch(d), batch(d)]),
}
"""One use of each optional function."""

SHOWN = {
    "load": "load(bytes)",
    "crop": "crop(cache, 2)",
    "new_batch_cache": "new_batch_cache(2)",
    "extend_batch": "extend_batch(rows of 2/1 tokens, cache)",
    "full_batch": "full_batch(rows of 2/1 tokens)",
    "reorder": "reorder(cache, [1, 0])",
    "merge": "merge(caches)",
    "check_invariants": "check_invariants(caches)",
    "work": "work()",
}
"""How a call of it is quoted, where that is not ``name(cache)``."""


def throw(error: BaseException) -> Any:
    """Raise, where only an expression may stand."""
    raise error


def answering(answer: Any) -> Any:
    """A member that returns this, whatever it is given."""
    return lambda *_: answer


def with_rows(rows: Any) -> Any:
    """A batch's answer with these rows."""
    return lambda _arrays, cache: (rows, cache)


TWO = "expected a list of 2 arrays of rows, one for each array of tokens"
EXTEND = "extend_batch(rows of 2/1 tokens, cache)"
RAGGED = [ROWS, ROWS[:1]]
BAD_ROWS: dict[str, tuple[Any, str]] = {
    "None": (None, f"returned None; {TWO}"),
    "too few arrays": ([ROWS], f"returned list; {TWO}"),
    "too many arrays": ([*RAGGED, ROWS], f"returned list; {TWO}"),
    "rows one after another": (np.ones((3, WIDTH)), f"returned ndarray of shape (3, 4); {TWO}"),
    "a dict": (dict(enumerate(RAGGED)), f"returned dict; {TWO}"),
    "a string": ("ab", f"returned str; {TWO}"),
    "bytes": (b"ab", f"returned bytes; {TWO}"),
    "padded": (
        np.ones((2, 2, WIDTH)),
        ", array 1 returned shape (2, 4); expected floats of shape (1, width): one row for each",
    ),
    "a row short": ([ROWS[:1], ROWS[:1]], ", array 0 returned shape (1, 4); expected floats of"),
    "no rows": ([ROWS, ROWS[:0]], ", array 1 returned shape (0, 4)"),
    "narrow": ([ROWS, ROWS[:1, :3]], ", array 1 returned rows of width 3; an earlier call gave 4"),
    "nan": ([ROWS, ROWS[:1] * np.nan], ", array 1 returned nan in row 0, column 0; rows must be"),
    "integers": ([ROWS.astype(int), ROWS[:1]], ", array 0 returned int64 values; expected floats"),
    "on a device": ([OnDevice(), OnDevice()], ", array 0 returned OnDevice of shape (2, 4), which"),
    "one None": ([ROWS, None], ", array 1 returned None; expected floats of shape (1, width)"),
}

# The member, what it is in place of the right one, and what the line about it must say.
WRONG: list[tuple[str, Any, str]] = [
    ("fork", answering(None), "fork returned None; expected an independent copy"),
    ("crop", answering(None), "crop(cache, length) returned None; expected the cache with fewer"),
    ("save", answering("text"), "save(cache) returned str; expected bytes"),
    ("save", answering(None), "save(cache) returned None; expected bytes"),
    ("save", answering([1]), "save(cache) returned list; expected bytes"),
    ("load", answering(None), "load returned None; expected the cache that was saved"),
    ("reset", answering(None), "reset(cache) returned None; expected the cache, emptied"),
    ("work", answering(-1), "work() returned -1; expected a count >= 0"),
    ("work", answering(2.0), "work() returned 2.0; expected a count >= 0"),
    ("work", answering(True), "work() returned True; expected a count >= 0"),
    ("work", answering(None), "work() returned None; expected a count >= 0"),
    ("new_batch_cache", answering(None), "new_batch_cache returned None; expected an empty batch"),
    ("reorder", answering(None), "reorder(cache, rows) returned None; expected the batch of these"),
    ("merge", answering(None), "merge(caches) returned None; expected one batch of all the rows"),
    ("extend_batch", answering(None), f"{EXTEND} returned None; expected a pair (rows, cache)"),
    ("extend_batch", answering(RAGGED), f"{EXTEND} returned list; expected a pair (rows, cache)"),
    ("extend_batch", answering((RAGGED, 1, 2)), f"{EXTEND} returned a tuple of 3; expected a pair"),
    ("extend_batch", answering((RAGGED, None)), f"{EXTEND} returned None for the cache; expected"),
    *(
        ("extend_batch", with_rows(rows), (EXTEND + ("" if line[0] == "," else " ") + line))
        for rows, line in BAD_ROWS.values()
    ),
    *(("full_batch", answering(rows), line) for rows, line in BAD_ROWS.values()),
]


@pytest.mark.parametrize(("member", "wrong", "line"), WRONG)
@pytest.mark.parametrize("kind", [Listing, ListingInPlace])
def test_an_answer_that_cannot_be_used_gives_its_one_line(
    kind: type[Listing], member: str, wrong: Any, line: str
) -> None:
    decoder = Guarded(kind(**{member: wrong}))
    decoder.full([0])
    with pytest.raises(DecoderError) as told:
        CALLS[member](decoder)
    assert line in str(told.value)
    assert str(told.value).startswith(member)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("member", CALLS)
@pytest.mark.parametrize("kind", [Listing, ListingInPlace])
def test_right_answers_pass(kind: type[Listing], member: str) -> None:
    CALLS[member](Guarded(kind()))


@pytest.mark.parametrize("data", [bytes, bytearray, memoryview])
def test_saved_data_may_be_any_kind_of_bytes_and_reaches_load_as_bytes(data: Any) -> None:
    decoder = Guarded(Listing(save=lambda cache: data(bytes(cache))))
    saved = decoder.save(held(decoder, 3, 1))
    assert type(saved) is bytes
    assert decoder.load(saved) == [3, 1]


def test_batches_may_come_as_tuples_generators_or_one_array() -> None:
    for answer in (tuple(RAGGED), iter(RAGGED)):
        rows = Guarded(Listing(full_batch=answering(answer))).full_batch([[1, 2], [3]])
        assert [len(one) for one in rows] == [2, 1]
    rows = Guarded(Listing(full_batch=answering(np.ones((2, 2, WIDTH))))).full_batch([[1, 2]] * 2)
    assert [one.shape for one in rows] == [(2, WIDTH)] * 2


def test_rows_of_a_batch_are_copied() -> None:
    buffer = np.ones((2, WIDTH))
    decoder = Guarded(Listing(full_batch=answering([buffer])))
    (rows,) = decoder.full_batch([[1, 2]])
    buffer[:] = 7
    assert (rows == 1).all()


def test_tokens_and_rows_that_a_decoder_overwrites_are_its_own_copies() -> None:
    tokens, rows = [[1, 2], [3]], [1, 0]

    def scribbles(arrays: Any, cache: Any) -> Any:
        answer = Listing().extend_batch(arrays, cache)
        for one in arrays:
            one[:] = 0
        return answer

    decoder = Guarded(Listing(extend_batch=scribbles, reorder=lambda c, r: [c[r.pop()]]))
    _, cache = decoder.extend_batch(tokens, decoder.new_batch_cache(2))
    decoder.reorder(cache, rows)
    assert (tokens, rows) == ([[1, 2], [3]], [1, 0])


# What is found by presence.

PARTNERS = [("save", "load"), ("load", "save"), ("new_batch_cache", "extend_batch")]
BATCH = ("new_batch_cache", "extend_batch")


@pytest.mark.parametrize(("lacking", "there"), [*PARTNERS, ("extend_batch", "new_batch_cache")])
def test_half_of_a_pair_is_refused(lacking: str, there: str) -> None:
    with pytest.raises(TargetError) as told:
        Guarded(Listing(**{lacking: None}))
    line = f"{there} needs {lacking} as well; offer all of them or none"
    assert str(told.value) == line


@pytest.mark.parametrize("member", ["reorder", "merge", "full_batch"])
def test_what_is_for_batches_needs_batches(member: str) -> None:
    without = dict.fromkeys((*BATCH, *({"reorder", "merge", "full_batch"} - {member})))
    with pytest.raises(TargetError) as told:
        Guarded(Listing(**without))
    assert str(told.value) == f"{member} needs new_batch_cache and extend_batch as well"


def test_all_members_are_offered_and_each_alone_may_be_left_out() -> None:
    functions = {one.id for one in CAPABILITIES.values() if one.functions}
    assert Guarded(Listing()).capabilities.offers == functions - {"as_float64"}
    assert Guarded(Sums()).capabilities.offers == frozenset()
    for name in functions - {"as_float64", "batch"}:
        lacking = Listing(**dict.fromkeys(CAPABILITIES[name].functions))
        assert Guarded(lacking).capabilities.offers == functions - {"as_float64", name}


@pytest.mark.parametrize(
    "name", [one.id for one in CAPABILITIES.values() if one.functions and one.id != "as_float64"]
)
def test_what_is_not_offered_is_unsupported_in_the_words_of_the_table(name: str) -> None:
    """But for what has a default: a fork, a release, invariants, a state."""
    decoder = Guarded(Sums())
    calls = [CALLS[function] for function in CAPABILITIES[name].functions if function != "load"]
    if name in ("fork", "release", "check_invariants", "state"):
        assert all(call(decoder) is None for call in calls if name != "fork")
        return
    calls = {"reorder": [lambda d: d.reorder(0, [0])], "merge": [lambda d: d.merge([])]}.get(
        name, calls
    )
    for call in calls:
        with pytest.raises(Unsupported) as told:
            call(decoder)
        assert str(told.value) == f"not offered: {CAPABILITIES[name].members}"


def test_only_what_is_offered_is_performed() -> None:
    always = {"fork", "new", "release"}
    assert always <= Guarded(Sums()).performable
    assert not Guarded(Sums()).performable & {"crop", "save", "reset", "batch", "split", "merge"}
    assert {*OPERATIONS, "batch"} - {"append"} <= Guarded(Listing()).performable
    assert "split" not in Guarded(Listing(reorder=None)).performable


# Refusals and errors.


@pytest.mark.parametrize("member", CALLS)
def test_a_member_that_is_not_implemented_is_unsupported_and_quoted(member: str) -> None:
    def refuse(*_: Any) -> Any:
        raise NotImplementedError("needs the fused kernel\nand more")

    with pytest.raises(Unsupported) as told:
        CALLS[member](Guarded(Listing(**{member: refuse})))
    assert str(told.value) == f"{member} refused: needs the fused kernel"


@pytest.mark.parametrize("member", CALLS)
def test_a_member_that_raises_is_quoted_with_its_place(member: str) -> None:
    broken = Listing(**{member: lambda *_: throw(ValueError("bad shape\nand more"))})
    with pytest.raises(DecoderRaisedError) as told:
        CALLS[member](Guarded(broken))
    call = SHOWN.get(member, f"{member}(cache)")
    assert str(told.value).startswith(f"{call} raised ValueError: bad shape (test_guard_operations")
    assert isinstance(told.value.__cause__, ValueError)


@pytest.mark.parametrize(
    "cache",
    [(0, 1), [1, 2], [[1], [2]], [], np.zeros(3), [np.zeros(3), np.zeros(3)], 7, b"ab", {}],
    ids=repr,
)
def test_a_cache_is_quoted_as_a_cache_whatever_it_is_made_of(cache: Any) -> None:
    """A key/value cache may well be a list of arrays, which are no tokens."""
    decoder = Guarded(
        Listing(
            new_cache=lambda: cache,
            extend=lambda *_: throw(ValueError("bad")),
            crop=lambda *_: throw(ValueError("bad")),
        )
    )
    with pytest.raises(DecoderRaisedError, match=r"^extend\(1 token, cache\) raised"):
        decoder.extend([1], decoder.new_cache())
    with pytest.raises(DecoderRaisedError, match=r"^crop\(cache, 2\) raised"):
        decoder.crop(cache, 2)


def test_a_cache_that_cannot_be_copied_asks_for_fork() -> None:
    lock = threading.Lock()
    decoder = Guarded(ListingInPlace(fork=None, new_cache=lambda: [lock]))
    with pytest.raises(Unsupported) as told:
        decoder.fork(decoder.new_cache())
    assert str(told.value) == (
        "copy.deepcopy cannot copy the cache (TypeError: cannot pickle '_thread.lock' object); "
        "offer fork(cache)"
    )


def test_a_fork_is_a_deep_copy_where_caches_change_and_the_cache_itself_where_not() -> None:
    changes = Guarded(ListingInPlace(fork=None))
    cache = batch(changes)
    fork = changes.fork(cache)
    assert fork == cache
    assert fork[0] is not cache[0]
    functional = Guarded(Listing(fork=None))
    cache = held(functional)
    assert functional.fork(cache) is cache


def test_invariants_that_fail_are_told_from_a_check_that_breaks() -> None:
    assert Guarded(Sums()).broken_invariant() is None
    assert Guarded(Listing()).broken_invariant() is None
    failing = Listing(check_invariants=lambda _: throw(AssertionError("block 3 counted twice\n-")))
    assert Guarded(failing).broken_invariant() == "block 3 counted twice"
    silent = Listing(check_invariants=lambda _: throw(AssertionError()))
    assert Guarded(silent).broken_invariant() == "(no message)"
    breaking = Listing(check_invariants=lambda _: throw(KeyError("blocks")))
    with pytest.raises(DecoderRaisedError, match=r"check_invariants\(caches\) raised KeyError"):
        Guarded(breaking).broken_invariant()


def test_invariants_are_checked_of_the_live_caches() -> None:
    seen: list[Any] = []
    decoder = Guarded(ListingInPlace(check_invariants=seen.append))
    first, second = held(decoder, 1), held(decoder, 2)
    decoder.broken_invariant()
    decoder.release(first)
    decoder.broken_invariant()
    decoder.crop(decoder.fork(second), 1)
    decoder.broken_invariant()
    assert seen == [[[1], [2]], [[2]], [[2], [2]]]


# Releases. A cache that was given to the decoder, or came from it, is done with once.


class Accounts:
    """Notes every cache that a decoder is given or gives, and every one that is released."""

    def __init__(self, decoder: Listing) -> None:
        self.decoder = decoder
        self.used: list[Any] = []
        self.released: list[Any] = []
        for name in ("new_cache", "extend", *CALLS):
            member = getattr(decoder, name)
            if member is not None:
                setattr(decoder, name, self._noting(name, member))

    def _noting(self, name: str, member: Callable[..., Any]) -> Callable[..., Any]:
        def noting(*arguments: Any) -> Any:
            for argument in arguments:
                several = argument if isinstance(argument, list) else [argument]
                self._note(*several)
            answer = member(*arguments)
            self._note(*(answer if isinstance(answer, tuple) else [answer]))
            if name == "release":
                self.released.append(*arguments)
            return answer

        return noting

    def _note(self, *values: Any) -> None:
        for cache in values:
            if isinstance(cache, Held):
                assert not _among(cache, self.released), "used after its release"
                if not _among(cache, self.used):
                    self.used.append(cache)

    def check_released_once(self) -> None:
        """Each cache that was met has been released, and once."""
        released = [id(cache) for cache in self.released]
        assert len(set(released)) == len(released), "released twice"
        assert set(released) == {id(cache) for cache in self.used}, "not released"


def _among(cache: Any, caches: list[Any]) -> bool:
    return any(one is cache for one in caches)


KINDS: dict[str, Callable[[], Listing]] = {
    "functional": Listing,
    "functional, without fork": lambda: Listing(fork=None),
    "in place": ListingInPlace,
    "in place, without fork": lambda: ListingInPlace(fork=None),
}


def with_tokens(schedule: Schedule) -> SearchStrategy[Case]:
    """A case of it."""
    ids = cs.token_ids(8, min_size=schedule.length, max_size=schedule.length)
    return ids.map(lambda tokens: Case(tokens, schedule))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=50)
@given(case=cs.programs(max_length=8).flatmap(with_tokens))
def test_every_cache_of_a_program_is_released_once_and_not_used_afterwards(
    kind: str, case: Case
) -> None:
    accounts = Accounts(KINDS[kind]())
    found = LAWS["programs"].try_on(Guarded(accounts.decoder), case)
    assert found.violation is None
    accounts.check_released_once()


@pytest.mark.parametrize(
    "text", ["1 b=a release b:1", "1 b=a save b:1", "b=new*1 b:1 c=b d=b&c d:1/1"]
)
def test_what_ends_a_branch_leaves_its_fork_in_use(text: str) -> None:
    """The smallest programs of the above: functional caches are their own forks."""
    accounts = Accounts(KINDS["functional, without fork"]())
    schedule = Schedule.parse(text)
    case = Case((1,) * schedule.length, schedule)
    LAWS["programs"].try_on(Guarded(accounts.decoder), case)
    accounts.check_released_once()


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_law_releases_every_cache_once(law: str, kind: str) -> None:
    accounts = Accounts(KINDS[kind]())
    vars(accounts.decoder).update(window=2, max_length=64)
    LAWS[law].try_on(Guarded(accounts.decoder), Case.of([1, 2, 3, 4], [1, 2, 1]))
    accounts.check_released_once()
    assert law in ("causality", "prefix") or accounts.released


@pytest.mark.parametrize("law", LAWS)
def test_every_law_releases_its_caches_when_the_decoder_raises(law: str) -> None:
    def breaks(call: Callable[..., Any]) -> Callable[..., Any]:
        def breaking(*arguments: Any) -> Any:
            if len(arguments) == 1 or len(arguments[1]) > 0:  # full, or onto a history or a batch
                raise RuntimeError("out of memory")
            return call(*arguments)

        return breaking

    decoder = ListingInPlace(window=2, max_length=64)
    broken = ("full",) if law in ("causality", "prefix") else ("extend", "extend_batch")
    for name in broken:
        setattr(decoder, name, breaks(getattr(decoder, name)))
    accounts = Accounts(decoder)
    schedule = {"overflow": "1", "batch": "b=new*2 b:1/1"}.get(law, "1+2+1")
    case = Case((1,) * Schedule.parse(schedule).length, Schedule.parse(schedule))
    if law == "overflow":  # where an error is due, but no whole call from empty raises one
        found = LAWS[law].try_on(Guarded(decoder), case).violation
        assert found is not None
        assert found.kind == "no-error"
    else:
        with pytest.raises(DecoderRaisedError, match="out of memory"):
            LAWS[law].try_on(Guarded(decoder), case)
    accounts.check_released_once()
    assert law in ("causality", "prefix") or accounts.released


def test_the_probe_releases_what_it_made() -> None:
    for make in KINDS.values():
        accounts = Accounts(make())
        Guarded(accounts.decoder).probe()
        accounts.check_released_once()
        assert accounts.released


def test_a_decoder_without_accounts_is_not_kept_in_memory_by_the_guard() -> None:
    decoder = Guarded(Altered())
    for _ in range(3):
        held(decoder)
    assert decoder._live == []


def test_a_merge_ends_its_sources_unless_it_is_one_of_them() -> None:
    accounts = Accounts(ListingInPlace())
    player = ScheduleRunner(Guarded(accounts.decoder))
    for step in Schedule.parse("b=new*1 c=new*2 d=b&c 1").steps[:3]:
        player.do(step)
    assert len(accounts.released) == 2
    accounts.decoder.merge = lambda caches: caches[0]  # type: ignore[method-assign]
    player.do(New("e", 1))
    player.do(Merge("f", ("d", "e")))
    assert len(accounts.released) == 3  # e alone: d goes on as f
    player.decoder.release_all()
    assert len(accounts.released) == len({id(one) for one in accounts.released}) == 4


def test_a_step_that_is_refused_moves_neither_ledger_nor_caches() -> None:
    def refuse(*_: Any) -> Any:
        raise NotImplementedError("evicted")

    decoder = Guarded(Listing(crop=refuse))
    player = ScheduleRunner(decoder)
    steps = Schedule.parse("3 crop1 2").steps
    player.do(steps[0], [1, 2, 3])
    with pytest.raises(Unsupported):
        player.do(steps[1])
    assert isinstance(steps[2], Append)
    (answer,) = player.do(steps[2], [4, 5])
    assert answer.tokens == (1, 2, 3, 4, 5)
    assert np.array_equal(answer.rows, Listing().full([1, 2, 3, 4, 5])[3:])
