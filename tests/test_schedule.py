"""Schedules: a notation that round-trips, all partitions, and shrinking by single steps."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cachecheck import strategies as cs
from cachecheck.errors import InputError
from cachecheck.schedule import (
    NOTATION,
    OPERATIONS,
    Append,
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
from cachecheck.schedule.notation import format_steps, parse_steps
from cachecheck.schedule.steps import branch_number, sort_key
from cachecheck.shrink import shrink, size_of

programs = cs.programs(max_length=12) | cs.programs(max_length=12, batches_alone=True)


@given(cs.lengths().flatmap(cs.chunk_partitions))
def test_the_notation_round_trips(chunks: tuple[int, ...]) -> None:
    schedule = Schedule.of(chunks)
    assert Schedule.parse(str(schedule)) == schedule
    assert schedule.length == sum(chunks)
    assert [stop - start for start, stop in schedule.spans] == list(chunks)


def test_the_published_schedule_reads_as_it_is_written() -> None:
    schedule = Schedule.parse("5+3+7+9")
    assert schedule.spans == [(0, 5), (5, 8), (8, 15), (15, 24)]
    assert schedule.cuts == [5, 8, 15]


@given(programs)
def test_the_notation_of_any_program_round_trips(schedule: Schedule) -> None:
    assert Schedule.parse(str(schedule)) == schedule
    assert format_steps(parse_steps(str(schedule))) == str(schedule)


@given(programs)
def test_lengths_are_those_of_lists_moved_along_by_hand(schedule: Schedule) -> None:
    """A second model: every branch a list of lengths, in a dictionary."""
    held: dict[str, list[int]] = {"a": [0]}
    total = longest = 0
    for step in schedule.steps:
        match step:
            case Append(branch, sizes):
                held[branch] = [n + size for n, size in zip(held[branch], sizes, strict=True)]
                total += sum(sizes)
                longest = max(longest, *held[branch])
            case New(branch, rows):
                held[branch] = [0] * (rows or 1)
            case Fork(branch, source, rows):
                held[branch] = [held[source][row] for row in rows or range(len(held[source]))]
            case Reorder(branch, rows):
                held[branch] = [held[branch][row] for row in rows]
            case Merge(branch, (left, right)):
                held[branch] = held.pop(left) + held.pop(right)
            case Crop(branch, length):
                held[branch] = [length]
            case Reset(branch):
                held[branch] = [0]
            case Release(branch):
                del held[branch]
    assert (schedule.length, schedule.longest) == (total, longest)
    *_, last = schedule.walk()
    assert {n: list(map(len, branch.rows)) for n, branch in last.live.items()} == held


@given(programs)
def test_only_calls_on_the_first_branch_are_plain(schedule: Schedule) -> None:
    kinds = {(step.operation, step.branch) for step in schedule.steps}
    assert schedule.plain is (kinds == {("append", "a")})
    if schedule.plain:
        assert schedule == Schedule.of(schedule.chunks)
        return
    for name in ("chunks", "spans", "cuts"):
        with pytest.raises(InputError, match="expected calls on one branch alone, like 5") as told:
            getattr(schedule, name)
        assert str(schedule) in str(told.value)


READ: dict[str, tuple[Step, ...]] = {
    "5": (Append("a", (5,)),),
    "5+3": (Append("a", (5,)), Append("a", (3,))),
    "b:2": (Append("b", (2,)),),
    "b:2/1/4": (Append("b", (2, 1, 4)),),
    "b:2/1+1/1": (Append("b", (2, 1)), Append("b", (1, 1))),
    "b=new": (New("b"),),
    "b=new*3": (New("b", 3),),
    "b=a": (Fork("b", "a"),),
    "c=b[1,2]": (Fork("c", "b", (1, 2)),),
    "b1=n1": (Fork("b1", "n1"),),
    "crop4": (Crop("a", 4),),
    "b:crop0": (Crop("b", 0),),
    "save": (Save("a"),),
    "b:save": (Save("b"),),
    "reset": (Reset("a"),),
    "release": (Release("a"),),
    "b:[2,0,0]": (Reorder("b", (2, 0, 0)),),
    "d=b&c": (Merge("d", ("b", "c")),),
}


@pytest.mark.parametrize("text", READ)
def test_each_kind_of_step_is_read_as_it_is_written(text: str) -> None:
    assert parse_steps(text) == READ[text]
    assert format_steps(READ[text]) == text


def test_the_examples_cover_every_operation_and_every_line_of_the_notation() -> None:
    assert {step.operation for steps in READ.values() for step in steps} == set(OPERATIONS)
    examples = re.findall(r"(?:^  |  )(\S+) {2,}", NOTATION, flags=re.MULTILINE)
    assert len(examples) == 13
    assert set(examples) <= set(READ)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("1 1", "1+1"),  # a step each
        (" 5+3\n", "5+3"),
        ("a:5 a:crop04 a:1", "5 crop4 1"),
        ("2 b=a 1 1 b:1 b:2 3", "2 b=a 1+1 b:1+2 3"),
    ],
)
def test_what_is_written_differently_reads_the_same(text: str, written: str) -> None:
    assert str(Schedule.parse(text)) == written


@pytest.mark.parametrize(
    "part",
    [
        *("+", "1+", "+1", "0", "1+0", "a", "01", "-1", "1++1", "5,3", "A:1", "ä:1", "1.5"),
        *("ab:1", "b:", ":1", "b=", "b=5", "=a", "b=new*0", "b=new*", "b=news", "b=a[]", "b=a[0"),
        *("b:[]", "b:[-1]", "b:[0,]", "d=b&", "d=b&c&e", "crop", "crop-1", "saved", "b=save"),
        *("2//1", "/1", "2/0", "\N{FULLWIDTH DIGIT TWO}", "b:[\N{FULLWIDTH DIGIT ONE}]", "1;2"),
    ],
)
def test_nonsense_is_named_in_one_line(part: str) -> None:
    with pytest.raises(InputError) as told:
        Schedule.parse(f"3 {part} 1")
    assert str(told.value).startswith(
        f"{part!r} is not a step of a schedule; expected something like"
    )
    assert "\n" not in str(told.value)


def test_the_first_part_that_is_no_step_is_the_one_named() -> None:
    with pytest.raises(InputError, match=r"^'\+' is not a step"):
        Schedule.parse("1 + 1 x y")


MISFITS: dict[str, str] = {
    "": "a schedule needs at least one call with tokens, like 5 or 5+3",
    "b=a": "a schedule needs at least one call with tokens",
    "b:1": "step 1 of 'b:1': branch b does not exist; live branches: a",
    "1 b=c": "step 2 of '1 b=c': branch c does not exist; live branches: a",
    "1 b:crop0": "branch b does not exist",
    "1 b:save": "branch b does not exist",
    "1 b:reset": "branch b does not exist",
    "1 b:release": "branch b does not exist",
    "1 release 1": "step 3 of '1 release 1': branch a has ended; live branches: none",
    "1 b=a release a:1": "branch a has ended; live branches: b",
    "1 b=a b=a": "step 3 of '1 b=a b=a': branch b exists already; give each branch a name of",
    "1 a=new": "branch a exists already",
    "1 b=a b:release b=new": "branch b exists already",
    "3 crop4": "step 2 of '3 crop4': branch a holds 3 tokens; got crop4",
    "1/1": "branch a is one sequence: a call gives each row at least one token; got 1/1",
    "b=new*2 b:1": "branch b is a batch of 2: a call gives each row at least one token; got 1",
    "b=new*2 b:1/1/1": "branch b is a batch of 2: a call gives each row at least one token",
    "b=new*2 b:1/1 b:crop1": "branch b is a batch; expected a single sequence",
    "b=new*2 b:1/1 b:save": "branch b is a batch; expected a single sequence",
    "b=new*2 b:1/1 b:reset": "branch b is a batch; expected a single sequence",
    "1 [0]": "branch a is a single sequence; expected a batch",
    "1 b=a[0]": "branch a is a single sequence; expected a batch",
    "1 b=new*1 c=a&b": "branch a is a single sequence; expected a batch",
    "1 b=new*1 c=b&a": "branch a is a single sequence; expected a batch",
    "1 b=new*2 b:[0,2]": "branch b has rows 0 to 1; got [0, 2]",
    "1 b=new*2 c=b[2]": "branch b has rows 0 to 1; got [2]",
    "1 b=new*2 c=b&b": "a batch cannot be merged with itself; got b&b",
    "1 b=new*2 c=new*1 a=b&c": "branch a exists already",
    "1 b=new*2 c=new*1 d=b&c c:1": "branch c has ended; live branches: a, d",
}


@pytest.mark.parametrize("text", MISFITS)
def test_a_step_that_does_not_fit_is_named_in_one_line(text: str) -> None:
    with pytest.raises(InputError) as told:
        Schedule.parse(text)
    assert MISFITS[text] in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    "step",
    [Crop("a", -1), New("b", 0), New("b", -1), Reorder("b", (-1,)), Fork("c", "b", (-1,))],
    ids=str,
)
def test_steps_made_by_hand_that_the_notation_cannot_write_are_refused(step: Step) -> None:
    batch: tuple[Step, ...] = () if isinstance(step, New) else (New("b", 2),)
    with pytest.raises(InputError):
        Schedule((Append("a", (3,)), *batch, step))


def test_a_merge_may_keep_the_name_of_one_of_its_sources() -> None:
    schedule = Schedule.parse("b=new*1 c=new*1 b:1 c:2 b=b&c b:1/1")
    *_, last = schedule.walk([5, 6, 7, 1, 2])
    assert last.live["b"].rows == ((5, 1), (6, 7, 2))
    assert "c" not in last.live


@given(st.integers(0, 200))
def test_branches_are_named_and_numbered_in_order(number: int) -> None:
    assert branch_number(branch_name(number)) == number
    assert Schedule.parse(f"1 {branch_name(number + 1)}=a").length == 1


def test_plainer_steps_on_earlier_branches_with_less_come_first() -> None:
    parts = (
        *("1", "2", "b:1", "b:1/2", "b:2/1", "b=new", "b=new*1", "b=a", "c=a", "c=b", "crop1"),
        *("crop2", "save", "reset", "release", "c=b[0]", "c=b[0,1]", "b:[0]", "b:[1]", "d=b&c"),
    )
    steps = [step for part in parts for step in parse_steps(part)]
    assert sorted(steps, key=sort_key) == steps


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
    with pytest.raises(InputError, match=r"schedule 2 b=new\*2 b:1/1 is for 4 tokens; got 2"):
        Case((0, 1), Schedule.parse("2 b=new*2 b:1/1"))
    with pytest.raises(InputError, match="chunk sizes >= 1"):
        Schedule.of(())
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
