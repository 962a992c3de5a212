"""A row dropped from a batch is left out wherever it went."""

from __future__ import annotations

import pytest

from cachecheck.schedule import Case, Schedule
from cachecheck.shrink.narrowing import narrower, narrower_twice
from cachecheck.shrink.repair import case_of, steps_of


def narrowed(text: str, *, twice: bool = False) -> set[tuple[str, tuple[int, ...]]]:
    """What one such move, or two, makes of a schedule whose tokens count from 0."""
    schedule = Schedule.parse(text)
    steps = steps_of(Case(tuple(range(schedule.length)), schedule))
    moved = narrower_twice(steps) if twice else narrower(steps)
    cases = [case_of(steps) for steps in moved]
    return {(str(case.schedule), case.tokens) for case in cases}


@pytest.mark.parametrize(
    ("before", "after", "tokens"),
    [
        ("b=new*2 b:1/2", "b=new*1 b:2", (1, 2)),
        ("b=new*2 b:1/2", "b=new*1 b:1", (0,)),
        ("b=new*3 b:1/1/1 c=b[2,0] c:1/2", "b=new*2 b:1/1 c=b[1,0] c:1/2", (0, 2, 3, 4, 5)),
        ("b=new*3 b:1/1/1 c=b[2,0] c:1/2", "b=new*2 b:1/1 c=b[1] c:1", (1, 2, 3)),
        ("b=new*3 b:1/1/1 c=b[2,0] c:1/2", "b=new*3 b:1/1/1 c=b[0] c:2", (0, 1, 2, 4, 5)),
        ("b=new*2 b:1/1 b:[1,0] b:2/1", "b=new*1 b:1 b:[0] b:1", (0, 4)),
        ("b=new*2 b:1/1 c=new*1 c:1 d=b&c d:1/1/2", "b=new*1 b:1 c=new*1 c:1 d=b&c d:1/2",
         (0, 2, 3, 5, 6)),
        ("b=new*2 b:1/1 c=b c:1/2", "b=new*1 b:1 c=b c:2", (1, 3, 4)),
    ],
)  # fmt: skip
def test_one_row_less(before: str, after: str, tokens: tuple[int, ...]) -> None:
    assert (after, tokens) in narrowed(before)


def test_two_rows_less_go_together() -> None:
    before = "b=new*3 b:1/1/1 c=b[0,0,0] c:1/1/1"
    after = {schedule for schedule, _ in narrowed(before, twice=True)}
    assert "b=new*2 b:1/1 c=b[0,0] c:1/1" in after
    assert "b=new*2 b:1/1 c=b[0,0] c:1/1" not in {schedule for schedule, _ in narrowed(before)}


def test_a_single_row_stays() -> None:
    assert narrowed("b=new*1 b:2 3 1") == set()
