"""Laws of operations hold on a right decoder, and each is broken by wrong ones of a few lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache as remembered
from functools import partial
from typing import Any

import numpy as np
import pytest

from cachecheck.errors import DecoderRaisedError, Unsupported
from cachecheck.guard import Guarded
from cachecheck.laws import LAWS, Law, falls_with, implied, weakest
from cachecheck.members import CAPABILITIES
from cachecheck.schedule import Case, Schedule
from cachecheck.search import search
from cachecheck.search.cases import Effort
from cachecheck.target import as_target
from cachecheck.verdict import Answer, Finding, Verdict
from tests.decoders_for_tests import Held, Listing, ListingInPlace, Sums

Make = Callable[[], Any]
QUICK = Effort(examples=30)
USUAL = Effort(examples=200)


@remembered
def verdict(law: str, make: Make, effort: Effort = QUICK) -> Verdict:
    """What a search finds."""
    return search(LAWS[law], as_target(make, "decoder"), effort)[0]


def examined(law: str, decoder: Any, text: str, tokens: tuple[int, ...] | None = None) -> Finding:
    """What a law finds on one schedule."""
    schedule = Schedule.parse(text)
    ids = tokens or tuple(1 + at % 7 for at in range(schedule.length))
    return LAWS[law].try_on(Guarded(decoder), Case(ids, schedule))


def refuse(*_: Any) -> Any:
    """A clean refusal."""
    raise NotImplementedError("needs the fused kernel")


class Full(Listing):
    """Right, and full at ``max_length``."""

    max_length = 6

    def full(self, tokens: Any) -> Any:
        if len(tokens) > self.max_length:
            raise ValueError("too long")
        return super().full(tokens)

    def extend(self, tokens: Any, cache: Any) -> Any:
        if len(cache) + len(tokens) > self.max_length:
            raise ValueError("the cache is full")
        return super().extend(tokens, cache)

    def extend_batch(self, arrays: Any, cache: Any) -> Any:
        if any(len(r) + len(new) > self.max_length for new, r in zip(arrays, cache, strict=True)):
            raise ValueError("the cache is full")
        return super().extend_batch(arrays, cache)


class Windowed(Sums):
    """Right: a row is the sum of the last ``window`` embeddings; the cache keeps no more tokens."""

    window, kept = 4, 4

    def full(self, tokens: Any) -> Any:
        sums = super().full(tokens)
        sums[self.window :] -= sums[: -self.window].copy()
        return sums

    def new_cache(self) -> Any:
        return np.zeros(0, np.int64)

    def extend(self, tokens: Any, cache: Any) -> Any:
        every = np.concatenate([cache, tokens])
        return self.full(every)[len(cache) :], every[-self.kept :]

    def state(self, cache: Any) -> Any:
        return [{"tokens": cache}]


class EvictsTooMuch(Windowed):
    kept = 2


class ForgetsItsWindow(Windowed):
    kept = 1 << 30

    def extend(self, tokens: Any, cache: Any) -> Any:
        every = np.concatenate([cache, tokens])
        return Sums.full(self, every)[len(cache) :], every


class EvictsOnce(Windowed):
    """Right rows from a cache that grows for ever once it has evicted."""

    def new_cache(self) -> Any:
        return super().new_cache(), False

    def extend(self, tokens: Any, cache: Any) -> Any:
        kept, evicted = cache
        every = np.concatenate([kept, tokens])
        rows = self.full(every)[len(kept) :]
        if not evicted and len(every) > self.window:
            every, evicted = every[-self.window :], True
        return rows, (every, evicted)

    def state(self, cache: Any) -> Any:
        return super().state(cache[0])


class Clamps(Full):
    """What does not fit goes to the last place of the buffer."""

    def extend(self, tokens: Any, cache: Any) -> Any:
        rows, after = Listing.extend(self, tokens, cache)
        return rows, after[: self.max_length]


class Alternates(Listing):
    """Every other new cache begins with something in it."""

    caches = 0

    def new_cache(self) -> Any:
        self.caches += 1
        return Held()

    def extend(self, tokens: Any, cache: Any) -> Any:
        rows, after = super().extend(tokens, cache)
        return rows + self.caches % 2, after


class WarmsUp(Listing):
    """A full pass is another one once something was decoded."""

    warm = 0

    def full(self, tokens: Any) -> Any:
        return super().full(tokens) + self.warm

    def extend(self, tokens: Any, cache: Any) -> Any:
        self.warm = 1
        return super().extend(tokens, cache)


class Recomputes(Listing):
    def extend(self, tokens: Any, cache: Any) -> Any:
        self.projected += len(cache)
        return super().extend(tokens, cache)


class ForksAreSame(ListingInPlace):
    """A fork and its source are one."""

    def fork(self, cache: Any) -> Any:
        return cache


class ShallowForks(ListingInPlace):
    """The rows of a forked batch are shared, and changed in place."""

    def fork(self, cache: Any) -> Any:
        return Held([*cache])

    def extend_batch(self, arrays: Any, cache: Any) -> Any:
        rows, after = Listing.extend_batch(self, arrays, cache)
        for row, longer in zip(cache, after, strict=True):
            row[:] = longer
        return rows, cache


class NewIsOld(ListingInPlace):
    """All new caches are one, emptied."""

    only = Held()

    def new_cache(self) -> Any:
        self.only.clear()
        return self.only


class PadsCount(Listing):
    """Rows of a batch that are shorter than the longest are filled with token 0, which counts."""

    def extend_batch(self, arrays: Any, cache: Any) -> Any:
        most = max(map(len, arrays))
        rows, after = super().extend_batch(arrays, cache)
        for row, new in zip(after, arrays, strict=True):
            row.extend([0] * (most - len(new)))
        return rows, after


class ReversesRows(Listing):
    """The rows of a batch come in the wrong order, where they can."""

    def extend_batch(self, arrays: Any, cache: Any) -> Any:
        rows, after = super().extend_batch(arrays, cache)
        same = len({len(new) for new in arrays}) == 1
        return (rows[::-1] if same else rows), after


class FullBatchPads(Listing):
    """Only full_batch is wrong: shorter sequences are padded in front."""

    def full_batch(self, arrays: Any) -> Any:
        most = max(map(len, arrays))
        return [self.full(one) + (most - len(one)) for one in arrays]


class FullBatchIsOff(Listing):
    """Only full_batch is wrong, alone and beside others alike."""

    def full_batch(self, arrays: Any) -> Any:
        return [self.full(one) + 1 for one in arrays]


class Blocks(ListingInPlace):
    """Right one by one: a rollback of a cache whose fork lives on takes the fork's tokens, too."""

    def __init__(self, **members: Any) -> None:
        super().__init__(**members)
        self.forks: list[tuple[Any, Any]] = []

    def fork(self, cache: Any) -> Any:
        twin = super().fork(cache)
        self.forks.append((cache, twin))
        return twin

    def crop(self, cache: Any, length: int) -> Any:
        for source, twin in self.forks:
            if source is cache:
                del twin[length:]
        return super().crop(cache, length)


class KeepsAccounts(ListingInPlace):
    """Right rows, wrong accounts: a loaded cache counts as two as long as it lives."""

    def __init__(self, **members: Any) -> None:
        super().__init__(**members)
        self.counts: dict[int, int] = {}

    def check_invariants(self, caches: Any) -> None:
        counted = sum(self.counts.get(id(cache), 1) for cache in caches)
        assert counted == len(caches), f"{counted} counted, {len(caches)} in use"

    def load(self, data: bytes) -> Any:
        loaded = super().load(data)
        self.counts[id(loaded)] = 2
        return loaded

    def release(self, cache: Any) -> None:
        self.counts.pop(id(cache), None)


def crops_too_little(cache: Any, length: int) -> Any:
    return Held(cache[: length + 1])


def crops_the_front(cache: Any, length: int) -> Any:
    return Held(cache[-length:])


RIGHT: dict[str, tuple[Make, ...]] = {
    **dict.fromkeys(LAWS, (Listing, ListingInPlace)),
    "window": (Windowed, partial(Listing, window=5)),
    "overflow": (Full,),
}

# Law, decoder: kind of the violation, and the smallest schedule.
WRONG: list[tuple[str, Make, str, str]] = [
    ("determinism", Alternates, "cached", "1"),
    ("work", Recomputes, "recomputed", "1+1"),
    ("window", EvictsTooMuch, "rows", "4+1"),
    ("window", EvictsOnce, "payload", ""),
    ("overflow", Clamps, "no-error", "1"),
    ("overflow", partial(Listing, max_length=5), "no-error", "1"),
    ("branch", ForksAreSame, "rows", "b=a 1 b:1"),
    ("branch", NewIsOld, "rows", ""),
    ("crop", partial(Listing, crop=crops_too_little), "rows", "2 crop1 1"),
    ("crop", partial(Listing, crop=crops_the_front), "rows", "2 crop1 1"),
    ("crop", partial(Listing, crop=lambda cache, _: cache), "rows", "2 crop1 1"),
    ("save", partial(Listing, load=lambda data: Held(data[:-1])), "rows", "1 save 1"),
    ("save", partial(Listing, save=lambda _: b""), "rows", "1 save 1"),
    ("save", KeepsAccounts, "invariants", "1 save"),
    ("reset", partial(Listing, reset=lambda cache: cache), "rows", "1 reset 1"),
    ("reset", partial(Listing, reset=lambda cache: Held(cache[1:])), "rows", "2 reset 1"),
    ("padding", PadsCount, "companion", ""),
    ("padding", FullBatchPads, "full-batch", "1"),
    ("batch", PadsCount, "rows", "b=new*2 b:1/2+1/1"),
    ("batch", ReversesRows, "rows", "b=new*2 b:1/1"),
    ("batch", FullBatchPads, "full-batch", "b=new*2 b:1/2"),
    ("batch", FullBatchIsOff, "full-batch", "b=new*1 b:1"),
    ("reorder", partial(Listing, reorder=lambda cache, _: cache), "rows", ""),
    ("reorder", partial(Listing, reorder=lambda c, r: Held([c[0] for _ in r])), "rows", ""),
    ("reorder", partial(Listing, merge=lambda c: Held([*c[1], *c[0]])), "rows", ""),
    ("reorder", ShallowForks, "rows", ""),
    ("programs", Blocks, "rows", "2 b=a crop1 b:1"),
    ("programs", KeepsAccounts, "invariants", "1 save"),
]


def named(make: Make) -> str:
    """For the ids of tests."""
    if isinstance(make, partial):
        return f"{make.func.__name__} with {', '.join(make.keywords)}"
    return make.__name__


OPERATIONS_LAWS = [
    *("determinism", "work", "window", "overflow", "branch", "crop", "save", "reset"),
    *("padding", "batch", "reorder", "programs"),
]


@pytest.mark.parametrize(
    ("law", "make"),
    [(law, make) for law in OPERATIONS_LAWS for make in RIGHT[law]],
    ids=lambda value: value if isinstance(value, str) else named(value),
)
def test_each_law_holds_on_what_is_right(law: str, make: Make) -> None:
    found = verdict(law, make)
    assert found.answer is Answer.HOLDS
    assert found.message == ""


@pytest.mark.parametrize("law", LAWS)
def test_every_law_holds_on_a_right_decoder_that_is_soon_full(law: str) -> None:
    """No case that the laws make of a drawn one may be longer than ``max_length``."""
    found = verdict(law, Full, Effort(examples=15))
    expected = Answer.UNSUPPORTED if law == "window" else Answer.HOLDS
    assert found.answer is expected, found.message


@pytest.mark.parametrize(
    ("law", "make", "kind", "schedule"),
    WRONG,
    ids=[f"{law}-{number}-{named(make)}" for number, (law, make, *_) in enumerate(WRONG)],
)
def test_each_fault_breaks_its_law(law: str, make: Make, kind: str, schedule: str) -> None:
    found = verdict(law, make, USUAL)
    assert found.answer is Answer.VIOLATED, found
    assert found.violation is not None
    assert found.violation.kind == kind
    assert not schedule or found.schedule == schedule
    again = examined(law, make(), found.schedule or "", found.tokens).violation
    assert again is not None
    assert (again.kind, again.call) == (kind, found.violation.call)


def test_each_of_these_laws_is_shown_to_fail() -> None:
    assert {law for law, *_ in WRONG} == set(OPERATIONS_LAWS)
    assert set(OPERATIONS_LAWS) < set(LAWS)


PLACES: list[tuple[str, Any, str, tuple[str, int | None, int | None]]] = [
    ("determinism", Alternates(), "1+1", ("cached", 1, 0)),
    ("determinism", WarmsUp(), "2+1", ("full", None, 0)),
    ("work", Recomputes(), "2+1+3", ("recomputed", 2, 2)),
    ("window", EvictsTooMuch(), "3+1+2", ("rows", 3, 4)),
    ("window", EvictsOnce(), "1+1+3+20+1", ("payload", 5, None)),
    ("overflow", Clamps(), "2+1", ("no-error", None, None)),
    ("branch", ForksAreSame(), "2 b=a 3 b:1", ("rows", 4, 2)),
    ("crop", Listing(crop=crops_too_little), "3 crop1 2 1", ("rows", 3, 1)),
    ("save", Listing(save=lambda _: b""), "2 1 save 2", ("rows", 4, 3)),
    ("reset", Listing(reset=lambda cache: cache), "2 reset 1 2", ("rows", 3, 0)),
    ("padding", PadsCount(), "1+2", ("companion", 2, 1)),
    ("batch", PadsCount(), "b=new*2 b:1/2 b:1/1", ("rows", 3, 1)),
    ("batch", FullBatchIsOff(), "b=new*2 b:1/1", ("full-batch", None, 0)),
    ("reorder", Listing(reorder=lambda c, _: c), "b=new*2 b:1/2 b:[1,0] b:1/1", ("rows", 4, 2)),
    ("programs", Blocks(), "3 b=a crop1 b:1", ("rows", 4, 3)),
    ("programs", KeepsAccounts(), "1 b=a save 1", ("invariants", 3, None)),
]


@pytest.mark.parametrize(("law", "decoder", "text", "place"), PLACES)
def test_a_violation_names_its_kind_call_and_position(
    law: str, decoder: Any, text: str, place: tuple[str, int | None, int | None]
) -> None:
    violation = examined(law, decoder, text).violation
    assert violation is not None
    assert violation.law == law
    assert (violation.kind, violation.call, violation.position) == place


SEQUENCES: list[tuple[str, Any, str, int | None]] = [
    ("batch", PadsCount(), "b=new*2 b:1/2 b:1/1", 0),
    ("batch", PadsCount(), "b=new*2 b:2/1 b:1/1", 1),
    ("batch", FullBatchIsOff(), "b=new*2 b:1/1", 0),
    ("padding", PadsCount(), "1+2", 0),
    ("reorder", Listing(reorder=lambda c, _: c), "b=new*3 b:1/1/2 b:[0,2,2] b:1/1/1", 1),
    ("crop", Listing(crop=crops_too_little), "3 crop1 2 1", None),
]


@pytest.mark.parametrize(("law", "decoder", "text", "sequence"), SEQUENCES)
def test_a_violation_in_a_batch_names_its_sequence(
    law: str, decoder: Any, text: str, sequence: int | None
) -> None:
    violation = examined(law, decoder, text).violation
    assert violation is not None
    assert violation.sequence == sequence


def test_a_companion_that_changes_rows_is_shown_with_its_tokens() -> None:
    cached = examined("padding", PadsCount(), "1+2", (0, 0, 1)).violation
    assert cached is not None
    assert "a second sequence, [1, 1, 2], in calls of 2+1" in cached.message
    full = examined("padding", FullBatchPads(), "1+1", (0, 0)).violation
    assert full is not None
    assert (
        "full_batch: a sequence's rows change beside [0, 1, 1], the first in the batch"
        in full.message
    )


def test_a_wrong_row_past_the_window_is_counted_from_the_beginning_of_its_call() -> None:
    violation = examined("window", ForgetsItsWindow(), "2+6").violation
    assert violation is not None
    assert (violation.position, violation.call, violation.row) == (4, 2, 2)


def test_an_own_check_that_fails_is_quoted() -> None:
    violation = examined("save", KeepsAccounts(), "1 save 1").violation
    assert violation is not None
    assert violation.message.endswith("check_invariants fails after this step: 2 counted, 1 in use")


def test_full_batch_is_compared_by_every_law_that_implies_batch() -> None:
    """`reorder` and `programs` cannot hold where `batch` is broken: that is what they say."""
    for law in ("batch", "reorder", "programs"):
        violation = examined(law, FullBatchIsOff(), "1 b=new*2 b:1/1").violation
        assert violation is not None, law


# UNSUPPORTED: the members are not there, or the decoder refuses.

NEEDED = {
    "work": "work()",
    "crop": CAPABILITIES["crop"].members,
    "save": CAPABILITIES["save"].members,
    "reset": CAPABILITIES["reset"].members,
    "padding": CAPABILITIES["batch"].members,
    "batch": CAPABILITIES["batch"].members,
    "reorder": CAPABILITIES["batch"].members,
    "window": "window",
    "overflow": "max_length",
}


@pytest.mark.parametrize("law", OPERATIONS_LAWS)
def test_without_the_members_a_law_is_unsupported_and_names_them(law: str) -> None:
    found = verdict(law, Sums)
    if law in NEEDED:
        assert (found.answer, found.message) == (
            Answer.UNSUPPORTED,
            f"not offered: {NEEDED[law]}",
        )
        text = "b=new*2 b:1/1" if "batch" in LAWS[law].operations else "1+1"
        with pytest.raises(Unsupported, match="not offered"):
            examined(law, Sums(), text)
    else:
        assert found.answer is Answer.HOLDS


def test_reorder_without_reorder_is_unsupported() -> None:
    found = verdict("reorder", partial(Listing, reorder=None))
    assert (found.answer, found.message) == (
        Answer.UNSUPPORTED,
        f"not offered: {CAPABILITIES['reorder'].members}",
    )


@pytest.mark.parametrize(
    ("law", "member"),
    [
        ("work", "work"),
        ("crop", "crop"),
        ("save", "save"),
        ("save", "load"),
        ("reset", "reset"),
        ("padding", "new_batch_cache"),
        ("batch", "extend_batch"),
        ("reorder", "new_batch_cache"),
        ("window", "extend"),
        ("determinism", "full"),
        ("programs", "extend"),
    ],
)
def test_a_member_that_refuses_leaves_the_law_unsupported_and_is_quoted(
    law: str, member: str
) -> None:
    found = verdict(law, partial(Listing, window=4, **{member: refuse}))
    assert found.answer is Answer.UNSUPPORTED
    assert found.message == f"{member} refused: needs the fused kernel"


def test_a_window_that_is_not_crossed_and_a_length_that_is_never_filled_are_unsupported() -> None:
    found = verdict("window", partial(Listing, window=200), Effort(examples=20, max_length=20))
    assert (found.answer, found.message) == (
        Answer.UNSUPPORTED,
        "the window of 200 is not crossed",
    )
    found = verdict("overflow", partial(Listing, max_length=4096))
    assert found.answer is Answer.UNSUPPORTED
    assert found.message.startswith("a max_length of 4096 takes too long to fill")


class RefusesLongRollbacks(Listing):
    """A window has evicted what a rollback of more than one token needs."""

    def crop(self, cache: Any, length: int) -> Any:
        if len(cache) - length > 1:
            raise NotImplementedError("evicted")
        return super().crop(cache, length)


def test_a_refused_rollback_ends_a_program_without_accusing() -> None:
    """What was done before counts; what would have come after is not looked at."""
    assert examined("crop", RefusesLongRollbacks(), "3 crop2 1 2 crop1 1").violation is None
    with pytest.raises(Unsupported, match="crop refused: evicted"):
        examined("crop", RefusesLongRollbacks(), "3 crop1 1")
    found = verdict("crop", RefusesLongRollbacks)
    assert found.answer is Answer.HOLDS
    assert "cases left out: crop refused: evicted" in found.message


def test_what_is_wrong_before_a_refusal_is_still_found() -> None:
    class Wrong(RefusesLongRollbacks):
        def crop(self, cache: Any, length: int) -> Any:
            return Held([7, *super().crop(cache, length)])

    violation = examined("crop", Wrong(), "3 crop2 1 2 crop1 1").violation
    assert violation is not None
    assert violation.call == 3


def test_an_overflow_that_is_refused_cleanly_is_no_violation() -> None:
    class Refuses(Full):
        def extend(self, tokens: Any, cache: Any) -> Any:
            if len(cache) + len(tokens) > self.max_length:
                raise NotImplementedError("full")
            return super().extend(tokens, cache)

    assert verdict("overflow", Refuses).answer is Answer.HOLDS


def test_a_buffer_that_is_full_too_early_is_an_error_and_no_overflow() -> None:
    class FullAtFive(Full):
        def extend(self, tokens: Any, cache: Any) -> Any:
            if len(cache) + len(tokens) > 5:
                raise ValueError("full at five")
            return super().extend(tokens, cache)

    with pytest.raises(DecoderRaisedError, match="full at five"):
        examined("overflow", FullAtFive(), "1")


# Which law follows from which.


EDGES = [(name, weaker) for name, law in LAWS.items() for weaker in law.implies]


def test_the_graph_names_known_laws_with_reasons_and_has_no_cycles() -> None:
    assert {weaker for _, weaker in EDGES} <= set(LAWS)
    for law in LAWS.values():
        assert all(len(reason.split()) >= 4 for reason in law.implies.values()), law.id
    for name in LAWS:
        assert name not in implied(LAWS, name)


def laws(**edges: str) -> Mapping[str, Law]:
    """Laws by name, each with the ones that follow from it."""
    some = LAWS["prefix"]
    return {
        name: Law(name, "", "", "", some.check, implies=dict.fromkeys(weaker, "so"))
        for name, weaker in edges.items()
    }


def test_what_is_implied_is_followed_to_the_end_also_where_ways_meet() -> None:
    diamond = laws(a="bc", b="d", c="d", d="e", e="", f="")
    assert implied(diamond, "a") == {"b", "c", "d", "e"}
    assert implied(diamond, "d") == {"e"}
    assert implied(diamond, "f") == set()


def test_the_weakest_of_the_broken_laws_are_where_to_begin() -> None:
    diamond = laws(a="bc", b="d", c="d", d="e", e="", f="")
    assert weakest(diamond, {"a", "b", "d"}) == ["d"]
    assert weakest(diamond, {"c", "b", "f"}) == ["b", "c", "f"]
    assert weakest(diamond, {"a", "e"}) == ["e"]  # also where the one between holds
    assert weakest(diamond, set()) == []
    assert falls_with(diamond, {"d"}) == ["a", "b", "c"]
    assert falls_with(diamond, {"d", "b"}) == ["a", "c"]
    assert falls_with(diamond, {"a", "f"}) == []


class OffOnHistory(Listing):
    """A chunk of two or more tokens onto history gives wrong rows."""

    def extend(self, tokens: Any, cache: Any) -> Any:
        rows, after = super().extend(tokens, cache)
        return rows + (len(cache) > 0 and len(tokens) > 1), after


class ScalesWithLength(Listing):
    def full(self, tokens: Any) -> Any:
        return super().full(tokens) * len(tokens)


class SeesTheLastToken(Listing):
    def full(self, tokens: Any) -> Any:
        return super().full(tokens) + 0.1 * self.embedding[tokens[-1]]


class SeesTheLastTokenInPlace(ListingInPlace):
    def full(self, tokens: Any) -> Any:
        return super().full(tokens) + 0.1 * self.embedding[tokens[-1]]


class OffAtSix(ListingInPlace):
    """Wrong from six tokens of history on."""

    def extend(self, tokens: Any, cache: Any) -> Any:
        late = len(cache) >= 6
        rows, after = super().extend(tokens, cache)
        return rows + late, after


BREAKERS: dict[str, tuple[Make, ...]] = {
    "causality": (SeesTheLastToken, SeesTheLastTokenInPlace),
    "prefix": (ScalesWithLength, SeesTheLastToken),
    "determinism": (Alternates, WarmsUp),
    "schedule": (OffOnHistory, OffAtSix, ScalesWithLength),
    **{
        law: tuple(make for other, make, *_ in WRONG if other == law)[-2:]
        for law in ("branch", "crop", "save", "reset", "padding", "reorder")
    },
    "batch": (PadsCount, FullBatchIsOff),
}
"""Decoders with all members that break a law."""


def answered(law: str, make: Make) -> Answer:
    return verdict(law, make, USUAL).answer


@pytest.mark.slow
@pytest.mark.parametrize(("stronger", "weaker"), EDGES)
def test_where_the_weaker_law_is_broken_the_stronger_one_is(stronger: str, weaker: str) -> None:
    broken = [make for make in BREAKERS[weaker] if answered(weaker, make) is Answer.VIOLATED]
    assert broken
    answers = {named(make): answered(stronger, make) for make in broken}
    assert set(answers.values()) == {Answer.VIOLATED}, answers


def test_a_wrong_schedule_alone_is_where_to_begin_whatever_else_it_breaks() -> None:
    tried = ("prefix", "determinism", "schedule", "branch", "crop", "programs")
    broken = [law for law in tried if verdict(law, OffOnHistory).answer is Answer.VIOLATED]
    assert broken == ["schedule", "branch", "crop", "programs"]
    assert weakest(LAWS, broken) == ["schedule"]
