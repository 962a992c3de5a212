"""Random programs stay within what was asked for, and reach what breaks caches."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from cachecheck.search.programs import BRANCHES, ROWS, Room, draw_program

ALL = frozenset({*OPERATIONS, "batch"}) - {"append"}

wanted = st.sets(st.sampled_from(sorted(ALL)))
rooms = st.builds(
    Room, st.integers(1, 24), window=st.none() | st.integers(1, 9), single=st.booleans()
)


def draw(seed: int, operations: set[str] | frozenset[str], room: Room) -> Schedule:
    """The program that a seed stands for."""
    return draw_program(random.Random(seed), operations, room)  # noqa: S311


@cache
def many(operations: frozenset[str] = ALL, *, single: bool = True) -> list[Schedule]:
    """What a search of default effort may see."""
    return [draw(seed, operations, Room(24, single=single)) for seed in range(200)]


def operations_of(schedule: Schedule) -> set[str]:
    """What it does besides calls; a new batch is ``batch``."""
    found = {step.operation for step in schedule.steps} - {"append", "new"}
    new = {"new" if s.rows is None else "batch" for s in schedule.steps if isinstance(s, New)}
    return found | new


def befores(schedule: Schedule) -> list[tuple[Step, dict[str, Branch]]]:
    """Each step, and what was live before it."""
    lives = [dict(branches.live) for branches in schedule.walk()]
    return list(zip(schedule.steps, [Branches().live, *lives], strict=False))


@given(st.integers(0, 2**64), wanted, rooms)
def test_a_program_does_what_was_asked_for_and_nothing_else(
    seed: int, operations: set[str], room: Room
) -> None:
    schedule = draw(seed, operations, room)
    assert operations_of(schedule) <= operations | (set() if room.single else {"batch"})
    if not room.single:
        assert all(step.branch != "a" for step in schedule.steps)


@given(st.integers(0, 2**64), wanted, rooms)
def test_no_sequence_is_longer_than_the_room(seed: int, operations: set[str], room: Room) -> None:
    assert 1 <= draw(seed, operations, room).longest <= room.longest


@given(st.integers(0, 2**64), wanted, rooms)
def test_every_branch_with_room_left_goes_on_last(
    seed: int, operations: set[str], room: Room
) -> None:
    """What an operation broke shows in later rows only."""
    schedule = draw(seed, operations, room)
    *_, end = schedule.walk()
    last = {step.branch: step for step in schedule.steps}
    for name, branch in end.live.items():
        if not room.single and name == "a":
            continue
        assert isinstance(last[name], Append) or branch.length == room.longest


@given(st.integers(0, 2**64), wanted, rooms)
def test_branches_and_rows_stay_few(seed: int, operations: set[str], room: Room) -> None:
    for branches in draw(seed, operations, room).walk():
        assert len(branches.live) <= BRANCHES
        assert all(len(branch.rows) <= 2 * ROWS for branch in branches.live.values())


@given(st.integers(0, 2**64), wanted, rooms)
def test_a_seed_gives_the_same_program_again(seed: int, operations: set[str], room: Room) -> None:
    assert draw(seed, operations, room) == draw(seed, operations, room)


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
    reached = [s for s in many(OF_BATCHES, single=False) if operation in operations_of(s)]
    assert sum(isinstance(s.steps[-1], Append) for s in reached) >= 30


def test_batches_have_several_rows_of_different_lengths_and_ragged_calls() -> None:
    programs = many(frozenset({"batch"}), single=False)
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


@given(st.integers(0, 2**64), rooms)
def test_every_call_and_row_is_counted_in_a_known_class(seed: int, room: Room) -> None:
    schedule = draw(seed, ALL, room)
    counted = coverage.classes_of(schedule, room.window)
    calls = sum(len(step.sizes) for step in schedule.steps if isinstance(step, Append))
    assert counted.total() == calls
    for past, chunk, window in counted:
        assert past in coverage.PASTS
        assert chunk in coverage.CHUNKS
        assert window in coverage.WINDOWS
        assert (window == "none") is (room.window is None)
    assert coverage.from_pairs(coverage.as_pairs(counted)) == counted


@pytest.mark.parametrize("window", [None, 1, 3])
def test_plain_schedules_count_the_same_step_by_step(window: int | None) -> None:
    """A save changes nothing that is counted, and takes the other way through."""
    for schedule in partitions(6):
        other = Schedule.parse(f"{schedule} save")
        assert not other.plain
        assert coverage.classes_of(other, window) == coverage.classes_of(schedule, window)
