"""Schedules: a notation that round-trips, all partitions, and shrinking by single steps."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cachecheck import strategies as cs
from cachecheck.errors import InputError
from cachecheck.schedule import Case, Schedule, partitions
from cachecheck.shrink import shrink, size_of


@given(cs.lengths().flatmap(cs.chunk_partitions))
def test_the_notation_round_trips(chunks: tuple[int, ...]) -> None:
    schedule = Schedule(chunks)
    assert Schedule.parse(str(schedule)) == schedule
    assert schedule.length == sum(chunks)
    assert [stop - start for start, stop in schedule.spans] == list(chunks)


def test_the_published_schedule_reads_as_it_is_written() -> None:
    schedule = Schedule.parse("5+3+7+9")
    assert schedule.spans == [(0, 5), (5, 8), (8, 15), (15, 24)]
    assert schedule.cuts == [5, 8, 15]


@pytest.mark.parametrize(
    "text", ["", "+", "1+", "+1", "0", "1+0", "1 + 1", "a", "01", "-1", "1++1"]
)
def test_what_is_no_schedule_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="chunk sizes joined by"):
        Schedule.parse(text)


@pytest.mark.parametrize("length", range(1, 11))
def test_there_are_two_to_the_length_minus_one_partitions(length: int) -> None:
    every = list(partitions(length))
    assert len(every) == len(set(every)) == 2 ** (length - 1)
    assert all(schedule.length == length for schedule in every)
    assert every[0].chunks == (length,)
    assert every[-1].chunks == (1,) * length


def test_a_case_is_as_long_as_its_schedule() -> None:
    with pytest.raises(InputError, match="is for 3 tokens; got 2"):
        Case.of([0, 1], [1, 2])
    with pytest.raises(InputError, match="chunk sizes >= 1"):
        Schedule(())
    with pytest.raises(InputError, match="at least 1"):
        next(partitions(0))


@given(st.data())
def test_shrinking_ends_where_no_single_step_fails(data: st.DataObject) -> None:
    """Against faults that need some history, some chunk and some token."""
    past = data.draw(st.integers(0, 4))
    chunk = data.draw(st.integers(1, 4))
    token = data.draw(st.integers(0, 5))

    def fails(case: Case) -> bool:
        return any(
            start >= past and stop - start >= chunk and token in case.tokens[start:stop]
            for start, stop in case.schedule.spans
        )

    tokens = data.draw(cs.token_ids(6, min_size=12, max_size=20))
    case = Case.of(tokens, data.draw(cs.chunk_partitions(len(tokens))))
    if not fails(case):
        return
    smallest = shrink(case, fails)
    assert fails(smallest)
    assert len(smallest.tokens) == past + chunk
    assert smallest.schedule.chunks == ((past, chunk) if past else (chunk,))
    assert sorted(smallest.tokens) == [0] * (past + chunk - 1) + [token]


def test_shrinking_tries_no_case_twice_and_none_with_too_few_calls() -> None:
    tried: list[Case] = []

    def fails(case: Case) -> bool:
        tried.append(case)
        return True

    smallest = shrink(Case.of([3, 1, 2, 5], [2, 1, 1]), fails, least_calls=2)
    assert smallest == Case.of([0, 0], [1, 1])
    assert len(tried) == len(set(tried))
    assert all(len(case.schedule.chunks) >= 2 for case in tried)


def test_fewer_tokens_come_before_fewer_calls_and_lower_tokens() -> None:
    ordered = [
        Case.of([5], [1]),
        Case.of([0, 0], [2]),
        Case.of([0, 0], [1, 1]),
        Case.of([0, 1], [1, 1]),
        Case.of([0, 0, 0], [3]),
    ]
    assert sorted(ordered, key=size_of) == ordered


@pytest.mark.parametrize(
    ("fails", "smallest"),
    [
        (lambda past, chunk, last: past and chunk % 4 == 0, "1+4"),
        (lambda past, chunk, last: past and chunk == last and chunk > 1, "2+2"),
        (lambda past, chunk, last: chunk > past >= 3, "3+4"),
        (lambda past, chunk, last: past >= 5 and chunk == last == 1, "4+1+1"),
    ],
)
def test_faults_tied_to_sizes_shrink_to_the_smallest_sizes(fails: Any, smallest: str) -> None:
    """Compared with the true minimum, found by trying every partition of every length."""

    def anywhere(case: Case) -> bool:
        sizes = [0, *case.schedule.chunks]
        past = [start for start, _ in case.schedule.spans]
        return any(fails(p, n, m) for p, n, m in zip(past, sizes[1:], sizes, strict=False))

    least = next(s for n in range(1, 12) for s in partitions(n) if anywhere(Case((0,) * n, s)))
    assert str(least) == smallest
    for chunks in ([7, 8, 8, 1, 1], [12, 12, 1, 1], [1, 16, 16, 1, 1], [3, 5, 6, 6, 20, 1, 1]):
        case = Case.of([1] * sum(chunks), chunks)
        if anywhere(case):
            assert str(shrink(case, anywhere).schedule) == smallest, chunks
