"""Drawn programs stay within what was asked for, and reach what breaks caches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from cachecheck import strategies as cs
from cachecheck.schedule import (
    OPERATIONS,
    Append,
    Branch,
    Branches,
    Crop,
    New,
    Reset,
    Schedule,
    Step,
    coverage,
    partitions,
)
from cachecheck.search.cases import numbered
from cachecheck.strategies._operations import BRANCHES, ROWS
from tests.helpers import minimal

ALL = frozenset({*OPERATIONS, "batch"}) - {"append"}


@dataclass(frozen=True)
class Asked:
    """What a program was asked for, and the program."""

    operations: set[str]
    most: int
    alone: bool
    even: bool
    program: Schedule


@st.composite
def _asked(draw: DrawFn) -> Asked:
    operations = draw(st.sets(st.sampled_from(sorted(ALL)), min_size=1))
    most, alone, even = draw(st.integers(1, 24)), draw(st.booleans()), draw(st.booleans())
    strategy = cs.programs(
        operations=operations, max_length=most, batches_alone=alone, even_batches=even
    )
    return Asked(operations, most, alone, even, draw(strategy))


asked = _asked()


@cache
def many(operations: frozenset[str] = ALL, *, alone: bool = False) -> list[Schedule]:
    """What a search of default effort may see."""
    program = numbered(cs.programs(operations=operations, batches_alone=alone), "0")
    return [program(number) for number in range(200)]


def operations_of(schedule: Schedule) -> set[str]:
    """What it does besides calls; a new batch is ``batch``."""
    found = {step.operation for step in schedule.steps} - {"append", "new"}
    new = {"new" if s.rows is None else "batch" for s in schedule.steps if isinstance(s, New)}
    return found | new


def befores(schedule: Schedule) -> list[tuple[Step, dict[str, Branch]]]:
    """Each step, and what was live before it."""
    lives = [dict(branches.live) for branches in schedule.walk()]
    return list(zip(schedule.steps, [Branches().live, *lives], strict=False))


@given(asked)
def test_a_program_does_what_was_asked_for_and_nothing_else(asked: Asked) -> None:
    free = {"batch"} if asked.alone else set()
    assert operations_of(asked.program) <= asked.operations | free
    if asked.alone:
        assert all(step.branch != "a" for step in asked.program.steps)


@pytest.mark.parametrize("operation", ["fork", "new", "crop", "save", "reset", "batch"])
@given(st.data(), st.integers(2, 24))
def test_an_operation_asked_for_alone_is_in_every_program(
    operation: str, data: st.DataObject, most: int
) -> None:
    schedule = data.draw(cs.programs(operations=[operation], max_length=most))
    assert operation in operations_of(schedule)


@given(asked)
def test_no_sequence_is_longer_than_asked_for(asked: Asked) -> None:
    assert 1 <= asked.program.longest <= asked.most


@given(asked)
def test_every_branch_with_room_left_goes_on_last(asked: Asked) -> None:
    """What an operation broke shows in later rows only."""
    *_, end = asked.program.walk()
    last = {step.branch: step for step in asked.program.steps}
    for name, branch in end.live.items():
        if asked.alone and name == "a":
            continue
        assert isinstance(last[name], Append) or branch.length == asked.most


@given(asked)
def test_branches_and_rows_stay_few(asked: Asked) -> None:
    for branches in asked.program.walk():
        assert len(branches.live) <= BRANCHES
        assert all(len(branch.rows) <= 2 * ROWS for branch in branches.live.values())


@given(asked)
def test_rows_of_even_batches_get_as_many_tokens_once_there_are_any(asked: Asked) -> None:
    for step, before in befores(asked.program):
        if isinstance(step, Append) and asked.even and before[step.branch].length:
            assert len(set(step.sizes)) == 1


def test_a_number_gives_the_same_program_again() -> None:
    program = numbered(cs.programs(), "0")
    assert [program(number) for number in reversed(range(200))] == many()[::-1]


OF_BATCHES = frozenset({"batch", "fork", "release", "reorder", "split", "merge"})


@pytest.mark.parametrize("operation", sorted(ALL))
def test_every_operation_is_reached_where_all_are_asked_for(operation: str) -> None:
    """And followed by a call that may show it."""
    reached = [s for s in many() if operation in operations_of(s)]
    assert sum(isinstance(s.steps[-1], Append) for s in reached) >= 5


@pytest.mark.parametrize("operation", sorted(OF_BATCHES))
def test_every_operation_on_batches_is_reached_often_where_there_are_batches_alone(
    operation: str,
) -> None:
    reached = [s for s in many(OF_BATCHES, alone=True) if operation in operations_of(s)]
    assert sum(isinstance(s.steps[-1], Append) for s in reached) >= 30


def test_batches_have_several_rows_of_different_lengths_and_ragged_calls() -> None:
    programs = many(frozenset({"batch"}), alone=True)
    sizes = [s.sizes for p in programs for s in p.steps if isinstance(s, Append)]
    assert {len(one) for one in sizes} == set(range(1, ROWS + 1))
    ragged = [one for one in sizes if len(set(one)) > 1]
    assert len(ragged) > len(sizes) / 4


def took_back(schedule: Schedule) -> list[int]:
    """By how many tokens each rollback goes back."""
    return [
        before[step.branch].length - step.length
        for step, before in befores(schedule)
        if isinstance(step, Crop)
    ]


def test_rollbacks_take_back_one_token_and_many_and_leave_one() -> None:
    back = Counter(n for program in many(frozenset({"crop"})) for n in took_back(program))
    assert min(back) == 0  # nothing at all, as where every draft token was accepted
    assert back[1] > 30
    assert sum(count for n, count in back.items() if n >= 4) > 30
    left = {s.length for p in many(frozenset({"crop"})) for s in p.steps if isinstance(s, Crop)}
    assert {1, 2, 3} <= left


def forked_and_gone_on(schedule: Schedule) -> bool:
    return any(
        fork.operation == "fork" and isinstance(after, Append) and after.branch == fork.branch
        for fork, after in pairwise(schedule.steps)
    )


def empty_forked(schedule: Schedule) -> bool:
    return any(
        step.operation == "fork" and before[step.source].length == 0  # type: ignore[union-attr]
        for step, before in befores(schedule)
    )


def full_reset(schedule: Schedule) -> bool:
    return any(
        isinstance(step, Reset) and before[step.branch].length >= 8
        for step, before in befores(schedule)
    )


def long_history(schedule: Schedule) -> bool:
    return any(
        isinstance(step, Append) and before[step.branch].length >= 16
        for step, before in befores(schedule)
    )


@pytest.mark.parametrize("shape", [forked_and_gone_on, empty_forked, full_reset, long_history])
def test_the_shapes_that_break_caches_are_drawn(shape: Callable[[Schedule], bool]) -> None:
    assert sum(map(shape, many())) >= 5


# Shrinking, under Hypothesis.


def does(operation: str, times: int = 1) -> Callable[[Schedule], bool]:
    return lambda p: sum(step.operation == operation for step in p.steps) >= times


def ragged(schedule: Schedule) -> bool:
    return any(len(set(s.sizes)) > 1 for s in schedule.steps if isinstance(s, Append))


MINIMA: dict[str, tuple[SearchStrategy[Schedule], Callable[[Schedule], bool], str]] = {
    "any": (cs.programs(), bool, "1 b=a 1 b:1"),
    "batches": (cs.programs(batches_alone=True), bool, "b=new*1 b:1"),
    "a single token": (cs.programs(max_length=1), bool, "1 b=a"),
    "a rollback": (cs.programs(operations=["crop"]), bool, "2 crop1 1"),
    "two forks": (cs.programs(), does("fork", 2), "1 b=a c=a 1 b:1 c:1"),
    "a fork that goes on": (cs.programs(), forked_and_gone_on, "1 b=a b:1 1 b:1"),
    "two saves": (cs.programs(operations=["save"]), does("save", 2), "1 save save 1"),
    "a release": (
        cs.programs(operations=["fork", "release"]),
        does("release"),
        "1 b=a release b:1",
    ),
    "a split": (cs.programs(batches_alone=True), does("split"), "b=new*1 c=b[0] b:1 c:1"),
    "a ragged call": (
        cs.programs(operations=["batch"], batches_alone=True),
        ragged,
        "b=new*2 b:1/2",
    ),
}


@pytest.mark.parametrize("name", MINIMA)
def test_programs_shrink_to_a_pinned_minimum(name: str) -> None:
    strategy, condition, expected = MINIMA[name]
    assert str(minimal(strategy, condition)) == expected


# Calls, counted by class.


def test_a_plain_schedule_is_counted_call_by_call() -> None:
    assert coverage.classes_of(Schedule.parse("1+1+5+1+8+16+1"), None) == {
        ("0", "1", "none"): 1,
        ("1", "1", "none"): 1,
        ("2-7", "2-7", "none"): 1,
        ("2-7", "1", "none"): 1,
        ("8-15", "8+", "none"): 1,
        ("16+", "8+", "none"): 1,
        ("16+", "1", "none"): 1,
    }


def test_calls_lie_within_across_or_beyond_a_window() -> None:
    assert coverage.classes_of(Schedule.parse("4+1+1"), 5) == {
        ("0", "2-7", "within"): 1,
        ("2-7", "1", "within"): 1,
        ("2-7", "1", "beyond"): 1,
    }
    assert coverage.classes_of(Schedule.parse("4+2"), 5)["2-7", "2-7", "across"] == 1
    assert coverage.classes_of(Schedule.parse("6"), 5) == {("0", "2-7", "across"): 1}


def test_the_rows_of_a_batch_count_one_by_one_and_operations_move_the_past() -> None:
    single, batch = "8 b=a crop2 1 b:1 reset 1", "c=new*2 c:1/2 d=c[1,1] d:1/1 e=d&c e:1/1/1/9"
    schedule = Schedule.parse(f"{single} {batch}")
    assert coverage.classes_of(schedule, None) == {
        ("0", "8+", "none"): 1,
        ("2-7", "1", "none"): 1 + 2 + 2,
        ("8-15", "1", "none"): 1,
        ("0", "1", "none"): 2,
        ("0", "2-7", "none"): 1,
        ("1", "1", "none"): 1,
        ("2-7", "8+", "none"): 1,
    }


@given(cs.programs(), st.none() | cs.windows())
def test_every_call_and_row_is_counted_in_a_known_class(
    schedule: Schedule, size: int | None
) -> None:
    counted = coverage.classes_of(schedule, size)
    calls = sum(len(step.sizes) for step in schedule.steps if isinstance(step, Append))
    assert counted.total() == calls
    for past, chunk, window in counted:
        assert past in coverage.PASTS
        assert chunk in coverage.CHUNKS
        assert window in coverage.WINDOWS
        assert (window == "none") is (size is None)
    assert coverage.from_pairs(coverage.as_pairs(counted)) == counted


@pytest.mark.parametrize("window", [None, 1, 3])
def test_plain_schedules_count_the_same_step_by_step(window: int | None) -> None:
    """A save changes nothing that is counted, and takes the other way through."""
    for schedule in partitions(6):
        other = Schedule.parse(f"{schedule} save")
        assert not other.plain
        assert coverage.classes_of(other, window) == coverage.classes_of(schedule, window)
