"""Certificates cover what they say: both methods and brute force agree, and nothing is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from cachecheck.certify import LONGEST_TREE, Certificate, certify, certify_programs, programs_up_to
from cachecheck.certify.enumeration import Scope
from cachecheck.errors import DecoderError, InputError, Unsupported
from cachecheck.guard import Guarded
from cachecheck.laws import LAWS
from cachecheck.reference import (
    FROZEN,
    WRONG_MASKS,
    Config,
    MaskRule,
    ReferenceDecoder,
    offset_mask,
)
from cachecheck.schedule import (
    OPERATIONS,
    Append,
    Branches,
    Case,
    Crop,
    Fork,
    Merge,
    New,
    Release,
    Reorder,
    Reset,
    Save,
    Schedule,
    Step,
    branch_name,
    partitions,
)
from cachecheck.schedule.tokens import tokens_of_seed
from cachecheck.shrink import size_of
from cachecheck.verdict import Answer, Code
from tests.decoders_for_tests import Held, Listing, ListingInPlace, Sums

PLAIN = replace(FROZEN, layers=1)
WINDOWED = replace(PLAIN, window=3, sinks=1)  # with a sink no row is ever blind, which is an error
MASKS: dict[str, MaskRule] = {"right": offset_mask} | {n: w.rule for n, w in WRONG_MASKS.items()}


def throw(error: BaseException) -> Any:
    """Raise, where only an expression may stand."""
    raise error


def by_brute_force(decoder: Guarded, length: int) -> str | None:
    """The smallest partition that breaks the law `schedule`, of each one up to the length."""
    tokens = tokens_of_seed(0, length, decoder.vocab_size)
    for n in range(1, length + 1):
        for schedule in partitions(n):
            if LAWS["schedule"].try_on(decoder, Case(tokens[:n], schedule)).violation:
                return str(schedule)
    return None


@pytest.mark.parametrize(
    ("mask", "config"),
    [
        *((mask, WINDOWED) for mask in MASKS),
        *((mask, PLAIN) for mask in ("right", "query-restart", "last-chunk-offset")),
    ],
)
def test_induction_tree_and_brute_force_agree(mask: str, config: Config) -> None:
    decoder = Guarded(ReferenceDecoder(config, mask_rule=MASKS[mask]))
    smallest = by_brute_force(decoder, 6)
    for length in range(1, 9):
        tree = certify(decoder, length, method="tree")
        other = certify(decoder, length)
        assert (tree.answer, tree.schedule) == (other.answer, other.schedule)
        assert tree.covered == other.covered == 2 ** (length - 1)
        if tree.schedule is None:
            assert tree.answer is Answer.HOLDS
            assert smallest is None or Schedule.parse(smallest).length > length
        elif length <= 6:
            assert tree.schedule == smallest
            assert (
                tree.tokens == tokens_of_seed(0, length, 32)[: Schedule.parse(tree.schedule).length]
            )
            assert tree.violation is not None
            assert other.violation is not None
            assert tree.violation.position == other.violation.position
    assert (smallest is None) is (mask == "right")  # every wrong one fails within six tokens


def test_each_method_takes_the_calls_it_says() -> None:
    decoder = Guarded(Listing(crop=None))
    tree = certify(decoder, 6, method="tree")
    assert tree.calls == 1 + 2**6 - 1  # and the full pass
    induction = certify(decoder, 6, method="induction")
    assert induction.calls == 1 + 21 + 6 + tree.calls  # each call once, the drift, the tree beside
    assert induction.method != tree.method
    assert any("Each of the 21 calls" in line for line in induction.proves)
    assert any(
        "all 32 partitions of the first 6 tokens" in line.lower() for line in induction.proves
    )
    assert any("Each of the 32 ways" in line for line in tree.proves)


@pytest.mark.parametrize("kind", [Listing, ListingInPlace])
@pytest.mark.parametrize("fork", [True, False])
def test_right_decoders_are_certified_whatever_their_forks(
    kind: type[Listing],
    fork: bool,
) -> None:
    decoder = Guarded(kind() if fork else kind(fork=None))
    for found in (certify(decoder, 7), certify(decoder, 7, method="tree")):
        assert found.answer is Answer.HOLDS
        assert (found.schedule, found.violation, found.covered) == (None, None, 64)


@pytest.mark.parametrize("method", [None, "tree"])
def test_every_cache_is_released_in_the_end(method: str | None) -> None:
    live: list[Any] = []

    class Counts(ListingInPlace):
        def new_cache(self) -> Any:
            return self._born(super().new_cache())

        def fork(self, cache: Any) -> Any:
            return self._born(super().fork(cache))

        def _born(self, cache: Any) -> Any:
            live.append(cache)
            return cache

        def release(self, cache: Any) -> None:
            live[:] = [one for one in live if one is not cache]

    certify(Guarded(Counts()), 4, method=method)
    assert len(live) == 0


# Faults.


class Faulty(Listing):
    """Rows are wrong where ``fault(past, chunk, calls so far)`` says so; calls are in the cache."""

    def __init__(self, fault: Callable[[int, int, int], bool], **members: Any) -> None:
        super().__init__(**members)
        self.fault = fault

    def new_cache(self) -> Any:
        return Held(), 0

    def extend(self, tokens: Any, cache: Any) -> Any:
        held, calls = cache
        rows, after = super().extend(tokens, held)
        return rows + self.fault(len(held), len(tokens), calls), (after, calls + 1)

    def state(self, cache: Any) -> Any:
        return super().state(cache[0])

    def crop(self, cache: Any, length: int) -> Any:
        return super().crop(cache[0], length), cache[1]


class Honest(Faulty):
    """Its state shows the number of calls as well."""

    def state(self, cache: Any) -> Any:
        return [*super().state(cache), {"calls": np.array(cache[1])}]


FAULTS: dict[str, tuple[Callable[[int, int, int], bool], str]] = {
    "a history of exactly five": (lambda past, chunk, calls: past == 5, "5+1"),
    "two or more onto five": (lambda past, chunk, calls: past == 5 and chunk > 1, "5+2"),
    "a chunk of four onto history": (lambda past, chunk, calls: past > 0 and chunk == 4, "1+4"),
    "a chunk as long as its history": (lambda past, chunk, calls: past == chunk, "1+1"),
    "seven at once": (lambda past, chunk, calls: chunk == 7, "7"),
    "the third call": (lambda past, chunk, calls: calls == 2, "1+1+1"),
    "three onto the fourth call": (lambda past, chunk, calls: calls == 3 and chunk == 3, "1+1+1+3"),
    "two in the third call at four": (
        lambda past, chunk, calls: (past, chunk, calls) == (4, 2, 2),
        "1+3+2",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", [Faulty, Honest])
@pytest.mark.parametrize("method", [None, "tree"])
def test_a_fault_gives_its_true_minimum(fault: str, kind: type[Faulty], method: str | None) -> None:
    """Where the state leaves out what matters, the tree beside the induction sees it."""
    broken, smallest = FAULTS[fault]
    decoder = Guarded(kind(broken))
    assert by_brute_force(decoder, 7) == smallest
    found = certify(decoder, 8, method=method)
    assert (found.answer, found.schedule) == (Answer.VIOLATED, smallest)
    assert found.violation is not None
    schedule = Schedule.parse(smallest)
    assert found.violation.call == len(schedule.chunks)
    assert found.violation.position == schedule.spans[-1][0]
    assert found.tokens == tokens_of_seed(0, 8, 8)[: schedule.length]


def test_what_the_state_leaves_out_is_said_to_be_found_beside_the_induction() -> None:
    found = certify(Guarded(Faulty(FAULTS["the third call"][0])), 8)
    assert any(
        "state(cache) leaves out something that extend depends on" in line for line in found.proves
    )
    honest = certify(Guarded(Honest(FAULTS["the third call"][0])), 8)
    assert any(
        line == "Not by induction: the state after 1+1 is not that of one call with 2 tokens."
        for line in honest.proves
    )


def test_rows_that_are_wrong_when_drift_is_measured_are_a_violation() -> None:
    """A token a call is a partition like any other, also past the tokens that the tree covers."""
    found = certify(Guarded(Faulty(lambda past, chunk, calls: calls == 9)), 12)
    assert found.answer is Answer.VIOLATED


def test_a_doubtful_difference_beside_the_induction_is_not_passed_over() -> None:
    """By a millionth in every third call: too much for float64, undeclared; and no proof."""

    class Faint(Faulty):
        def extend(self, tokens: Any, cache: Any) -> Any:
            rows, after = Listing.extend(self, tokens, cache[0])
            return rows + 1e-6 * self.fault(0, 0, cache[1]), (after, cache[1] + 1)

    faint = Faint(lambda past, chunk, calls: calls >= 2)
    assert certify(Guarded(faint), 1).answer is Answer.HOLDS
    for method in ("tree", None):  # drift is measured a token a call, and meets it
        faint = Faint(lambda past, chunk, calls: calls >= 2)
        assert certify(Guarded(faint), 5, method=method).answer is Answer.INCONCLUSIVE


def test_a_doubtful_difference_that_the_tree_alone_meets_is_inconclusive() -> None:
    class Faint(Faulty):
        def extend(self, tokens: Any, cache: Any) -> Any:
            held, calls = cache
            rows, after = Listing.extend(self, tokens, held)
            return rows + 1e-6 * self.fault(len(held), len(tokens), calls), (after, calls + 1)

    faint = Faint(lambda past, chunk, calls: calls == 2 and chunk == 2)
    assert certify(Guarded(faint), 5, method="tree").answer is Answer.INCONCLUSIVE
    assert certify(Guarded(faint), 5).answer is Answer.INCONCLUSIVE


def test_rounding_that_adds_up_is_measured() -> None:
    class Drifts(Faulty):
        def extend(self, tokens: Any, cache: Any) -> Any:
            rows, after = Listing.extend(self, tokens, cache[0])
            return rows + 1e-14 * cache[1], (after, cache[1] + 1)

    found = certify(Guarded(Drifts(lambda past, chunk, calls: False)), 10)
    # Many times what the full pass shows of rounding: as little to conclude from as in a search.
    assert [reason.code for reason in found.reasons] == [Code.BEYOND_NOISE]
    assert found.answer is Answer.INCONCLUSIVE
    assert found.drift == pytest.approx(9e-14, rel=0.1)


def test_a_fork_that_shares_is_no_ground_for_an_induction() -> None:
    decoder = Guarded(ListingInPlace(fork=lambda cache: cache))
    with pytest.raises(InputError, match="extending a fork changes the cache that it was forked"):
        certify(decoder, 4, method="induction")


def test_rollbacks_are_covered_where_they_give_back_the_state() -> None:
    right = certify(Guarded(Listing()), 6)
    count = 15 + 5  # from every length to every shorter one but 0, and from other tokens
    assert any(line.startswith(f"{count} rollbacks from every length") for line in right.proves)
    wrong = certify(Guarded(Listing(crop=lambda cache, _: cache)), 6)
    assert (wrong.law, wrong.answer, wrong.schedule) == ("crop", Answer.VIOLATED, "2 crop1 1")
    refusing = Listing(crop=lambda *_: throw(NotImplementedError("no")))
    refused = certify(Guarded(refusing), 6)
    assert any(f"({count} were refused)" in line for line in refused.proves)


# Refusals and errors of `certify`.


def test_a_length_out_of_range_is_refused_in_one_line() -> None:
    for length in (0, -1):
        with pytest.raises(InputError, match=r"^length must be 1 to any number; got"):
            certify(Guarded(Sums()), length)
    with pytest.raises(InputError, match=r"^length must be 1 to 5; got 6$"):
        certify(Guarded(Listing(max_length=5)), 6)
    assert certify(Guarded(Listing(max_length=5)), 5).answer is Answer.HOLDS


def test_a_tree_that_would_be_too_large_is_refused_in_one_line() -> None:
    with pytest.raises(InputError) as told:
        certify(Guarded(Sums()), LONGEST_TREE + 1)
    assert str(told.value) == (
        "no induction: no state(cache) is offered; a prefix tree over 17 tokens takes 131,071 "
        "calls: give --length 16 or less"
    )
    with pytest.raises(InputError, match=r"^no induction: the state after 1\+1 is not that"):
        certify(Guarded(Honest(lambda past, chunk, calls: False)), 20)


def test_an_induction_that_cannot_be_is_refused_in_one_line() -> None:
    with pytest.raises(InputError) as told:
        certify(Guarded(Sums()), 3, method="induction")
    assert str(told.value) == (
        "no induction: no state(cache) is offered; leave out --method, or give tree"
    )


def test_a_tree_that_was_asked_for_does_not_excuse_itself() -> None:
    asked = certify(Guarded(Sums()), 4, method="tree")
    assert not any("Not by induction" in line for line in asked.proves)
    otherwise = certify(Guarded(Sums()), 4)
    assert otherwise.proves[-1] == "Not by induction: no state(cache) is offered."


def test_refusals_and_errors_of_the_decoder_come_through() -> None:
    refusing = Listing(extend=lambda *_: throw(NotImplementedError("no kernel")))
    with pytest.raises(Unsupported, match="extend refused: no kernel"):
        certify(Guarded(refusing), 3)
    breaking = Listing(extend=lambda *_: throw(ValueError("bad shape")))
    with pytest.raises(DecoderError, match="raised ValueError: bad shape"):
        certify(Guarded(breaking), 3)


def test_other_seeds_give_other_tokens() -> None:
    decoder = Guarded(Faulty(lambda past, chunk, calls: past == 3))
    tokens = {certify(decoder, 6, seed=seed).tokens for seed in range(5)}
    assert tokens == {tokens_of_seed(seed, 6, 8)[:4] for seed in range(5)}
    assert len(tokens) > 1


# Enumeration.

ALL = frozenset({*OPERATIONS, "batch"}) - {"append"}
SCOPES = {
    "calls": Scope(frozenset(), 5, 5),
    "forks and rollbacks": Scope(frozenset({"fork", "crop"}), 3, 4),
    "one cache": Scope(frozenset({"crop", "save", "reset", "release", "new"}), 3, 3),
    "bare ends": Scope(frozenset({"fork", "release", "crop"}), 3, 3, ends_bare=True),
    "batches": Scope(frozenset({"batch"}), 3, 4, single=False),
    "reorder": Scope(frozenset({"batch", "reorder", "split"}), 2, 4, single=False),
    "merge": Scope(frozenset({"batch", "merge", "fork"}), 3, 4, single=False),
    "everything": Scope(ALL, 2, 3),
    "everything, bare": Scope(ALL, 2, 3, ends_bare=True),
}


def alphabet(scope: Scope) -> Iterator[Step]:
    """Every step that may stand in a program of the scope, wherever it fits."""
    makes = scope.operations & {"fork", "new", "batch", "split", "merge"}
    names = [branch_name(number) for number in range(scope.steps if makes else 1)]
    sizes = range(1, scope.tokens + 1)
    for name in names:
        for rows in range(1, scope.tokens + 1):
            ragged = product(sizes, repeat=rows)
            yield from (Append(name, some) for some in ragged if sum(some) <= scope.tokens)
        yield from (New(name, rows) for rows in (None, 1, 2))
        yield from (Crop(name, length) for length in sizes)
        yield from (Save(name), Reset(name), Release(name))
        chosen = [rows for count in (1, 2) for rows in product(range(4), repeat=count)]
        yield from (Reorder(name, rows) for rows in chosen)
        for other in names:
            yield from (Fork(name, other, rows) for rows in (None, *chosen))
            yield from (Merge(name, (other, third)) for third in names)


def kind_of(step: Step) -> str:
    return "batch" if isinstance(step, New) and step.rows is not None else step.operation


def all_programs(scope: Scope) -> Iterator[Schedule]:
    """The same programs from the definition alone: everything tried, what does not fit left out.

    What changes nothing is no step: a rollback to the present length, rows in their own order.
    """
    steps = [s for s in alphabet(scope) if kind_of(s) in {"append", *scope.operations}]
    level: list[tuple[tuple[Step, ...], Branches]] = [((), Branches())]
    for _ in range(scope.steps):
        grown = [
            ((*done, s), _after(done, branches, s, scope))
            for done, branches in level
            for s in steps
        ]
        level = [(program, branches) for program, branches in grown if branches is not None]
        for program, _ledger in level:
            ends = isinstance(program[-1], Append) or scope.ends_bare
            if ends and any(isinstance(step, Append) for step in program):
                yield Schedule(program)


def _after(done: tuple[Step, ...], branches: Branches, step: Step, scope: Scope) -> Branches | None:
    """What is live after one more step; None where the scope has no such program."""
    if sum(map(_tokens, (*done, step))) > scope.tokens:
        return None
    if isinstance(step, New | Fork | Merge):
        created = 1 + sum(isinstance(one, New | Fork | Merge) for one in done)
        if step.branch != branch_name(created):
            return None
    if not scope.single and "a" in (step.branch, getattr(step, "source", "")):
        return None
    if not scope.single and isinstance(step, New) and step.rows is None:
        return None
    after = Branches(dict(branches.live), set(branches.ended))
    try:
        after.apply(step, (0,) * _tokens(step))
    except InputError:
        return None
    return None if _changes_nothing(step, branches) else after


def _changes_nothing(step: Step, before: Branches) -> bool:
    match step:
        case Reorder(branch, rows):
            return rows == tuple(range(len(before.live[branch].rows)))
    return False


def _tokens(step: Step) -> int:
    return sum(step.sizes) if isinstance(step, Append) else 0


def sized(schedule: Schedule) -> Any:
    return size_of(Case((0,) * schedule.length, schedule))


@pytest.mark.parametrize("name", SCOPES)
def test_the_enumeration_is_that_of_brute_force_in_the_order_of_size(name: str) -> None:
    found = list(programs_up_to(SCOPES[name]))
    assert len(set(found)) == len(found) > 10
    assert [sized(one) for one in found] == sorted(map(sized, found))
    assert set(found) == set(all_programs(SCOPES[name]))
    assert all(Schedule.parse(str(schedule)) == schedule for schedule in found)


def test_programs_of_calls_alone_are_the_partitions() -> None:
    scope = Scope(frozenset(), 6, 6)
    assert list(programs_up_to(scope)) == [s for n in range(1, 7) for s in partitions(n)]


def certified(law: str, decoder: Any, tokens: int, steps: int) -> Certificate:
    return certify_programs(Guarded(decoder), LAWS[law], tokens=tokens, steps=steps)


@pytest.mark.parametrize("law", [law.id for law in LAWS.values() if law.operations])
@pytest.mark.parametrize("kind", [Listing, ListingInPlace])
def test_right_decoders_are_certified_by_every_law_with_operations(
    law: str, kind: type[Listing]
) -> None:
    counts: list[int] = []
    steps = 2 if law == "programs" else 3
    found = certify_programs(
        Guarded(kind()), LAWS[law], tokens=2, steps=steps, on_program=counts.append
    )
    assert found.answer is Answer.HOLDS
    assert counts == list(range(1, found.covered + 1))
    assert f"Each of the {found.covered:,} programs of " in found.proves[0]
    assert f"with at most 2 tokens and {steps} steps was run" in found.proves[0]


def test_decoder_calls_are_counted() -> None:
    found = certified("branch", Listing(), 2, 2)
    assert found.calls >= found.covered


BROKEN: dict[str, tuple[str, Callable[[], Any], str]] = {
    "a rollback too short": (
        "crop",
        lambda: Listing(crop=lambda cache, n: Held(cache[: n + 1])),
        "2 crop1 1",
    ),
    "a fork that is the same": (
        "branch",
        lambda: ListingInPlace(fork=lambda cache: cache),
        "b=a 1 b:1",
    ),
    "a reset that does nothing": ("reset", lambda: Listing(reset=lambda c: c), "1 reset 1"),
    "a reorder that forgets": (
        "reorder",
        lambda: Listing(reorder=lambda _, rows: Held([Held() for _ in rows])),
        "b=new*1 b:1 c=b[0] c:1",
    ),
    "a saved token lost": ("save", lambda: Listing(save=lambda c: bytes(c[1:])), "1 save 1"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_found_is_the_first_that_fails_of_all_in_order(name: str) -> None:
    law, make, smallest = BROKEN[name]
    found = certified(law, make(), 3, 4)
    assert (found.answer, found.schedule) == (Answer.VIOLATED, smallest)
    single = law != "reorder"
    offered = Guarded(make()).performable
    scope = Scope(LAWS[law].operations & offered, 3, 4, single=single)
    for number, schedule in enumerate(programs_up_to(scope), start=1):  # pragma: no branch
        case = Case(tuple(range(1, schedule.length + 1)), schedule)
        if LAWS[law].try_on(Guarded(make()), case).violation is not None:
            assert (str(schedule), number) == (found.schedule, found.covered)
            break
    assert found.tokens == tuple(range(1, len(found.tokens or ()) + 1))
    assert found.proves == (f"None of the {found.covered - 1:,} smaller programs fails.",)


def test_invariants_are_certified_after_bare_operations() -> None:
    def check(caches: Any) -> None:
        assert len(caches) != 2, "two in use"

    found = certified("programs", Listing(check_invariants=check, fork=None), 1, 2)
    assert (found.answer, found.schedule) == (Answer.VIOLATED, "1")  # the empty one and its child
    in_place = ListingInPlace(check_invariants=check)
    found = certified("programs", in_place, 1, 2)
    assert (found.answer, found.schedule) == (Answer.VIOLATED, "1 b=new")


def test_a_law_of_calls_alone_is_refused() -> None:
    with pytest.raises(InputError, match="work is about calls alone; give --law schedule"):
        certified("work", Listing(), 2, 2)


def test_what_a_law_lacks_is_unsupported() -> None:
    with pytest.raises(Unsupported, match="not offered: crop"):
        certified("crop", Sums(), 2, 2)


def test_an_error_names_the_program() -> None:
    breaking = Listing(save=lambda _: throw(ValueError("disk full")))
    with pytest.raises(DecoderError, match=r"^on save 1: save\(cache\) raised ValueError: disk"):
        certified("save", breaking, 2, 3)


def test_programs_that_are_refused_are_counted_and_not_said_to_be_run() -> None:
    refusing = Listing(crop=lambda *_: throw(NotImplementedError("evicted")))
    found = certified("crop", refusing, 3, 3)
    assert found.answer is Answer.HOLDS
    scope = Scope(frozenset({"crop"}), 3, 3)
    refused = sum("crop" in str(one) for one in programs_up_to(scope))
    assert found.proves[1:] == (f"{refused} were refused: crop refused: evicted",)


def test_nothing_holds_where_every_program_is_refused() -> None:
    refusing = Listing(new_batch_cache=lambda _: throw(NotImplementedError("no batches yet")))
    try:
        found = certified("batch", refusing, 3, 3)
    except Unsupported as refusal:
        assert "no batches yet" in str(refusal)  # noqa: PT017 - either is a clear answer
    else:
        assert found.answer is Answer.UNSUPPORTED


@pytest.mark.parametrize(("tokens", "steps"), [(0, 3), (3, 0), (-1, 2)])
def test_a_scope_without_programs_proves_nothing(tokens: int, steps: int) -> None:
    with pytest.raises(InputError):
        certified("branch", Listing(), tokens, steps)


def test_a_doubtful_difference_is_inconclusive_as_in_a_search() -> None:
    class Faint(Listing):
        def extend(self, tokens: Any, cache: Any) -> Any:
            rows, after = super().extend(tokens, cache)
            return rows + (1e-6 if len(cache) else 0.0), after

    assert certify(Guarded(Faint()), 3).answer is Answer.INCONCLUSIVE
    assert certified("crop", Faint(), 3, 3).answer is Answer.INCONCLUSIVE


def test_programs_longer_than_the_decoder_has_room_for_are_left_out() -> None:
    class Full(Listing):
        max_length = 2

        def extend(self, tokens: Any, cache: Any) -> Any:
            assert len(cache) + len(tokens) <= 2
            return super().extend(tokens, cache)

    found = certified("crop", Full(), 4, 4)
    assert found.answer is Answer.HOLDS
    scope = Scope(frozenset({"crop"}), 4, 4)
    assert found.covered == sum(one.longest <= 2 for one in programs_up_to(scope))
