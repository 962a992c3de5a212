"""Moves that make programs smaller: those on branches and on the rows of batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate, chain, combinations

from cachecheck.schedule import FIRST, Append, Fork, Merge, New, Reorder, Step, branch_name
from cachecheck.shrink.repair import StepWithTokens


def redirect(steps: list[StepWithTokens]) -> Iterator[list[StepWithTokens]]:
    """A branch removed, its steps moved to its source or the first branch; or a step to another."""
    for at, (step, _) in enumerate(steps):
        for source in _sources(step):
            rest = [(_on_branch(one, step.branch, source), some) for one, some in steps[at + 1 :]]
            yield steps[:at] + rest
        for name in sorted({one.branch for one, _ in steps[:at]} - {step.branch}):
            if not isinstance(step, Fork | New | Merge):
                yield [*steps[:at], (replace(step, branch=name), steps[at][1]), *steps[at + 1 :]]
        if isinstance(step, Fork):
            for name in sorted({one.branch for one, _ in steps[:at]} - {step.source, step.branch}):
                yield [*steps[:at], (replace(step, source=name), ()), *steps[at + 1 :]]


def _sources(step: Step) -> tuple[str, ...]:
    match step:
        case New():
            return (FIRST,)
        case Fork(source=source):
            return (source,)
        case Merge(sources=sources):
            return sources
    return ()


def _on_branch(step: Step, old: str, new: str) -> Step:
    """``step`` with branch ``new`` wherever it names ``old``."""
    match step:
        case Fork(source=source) if source == old:
            step = replace(step, source=new)
        case Merge(sources=sources):
            left, right = (new if name == old else name for name in sources)
            step = replace(step, sources=(left, right))
    return replace(step, branch=new) if step.branch == old else step


def before_fork(steps: list[StepWithTokens]) -> Iterator[list[StepWithTokens]]:
    """A fork's first call made on its source, before the fork."""
    for at, (step, _) in enumerate(steps):
        if isinstance(step, Fork) and step.rows is None:
            for later, (call, tokens) in enumerate(steps[at + 1 :], start=at + 1):
                if isinstance(call, Append) and call.branch == step.branch:
                    moved = (replace(call, branch=step.source), tokens)
                    yield [*steps[:at], moved, *steps[at:later], *steps[later + 1 :]]
                    break


def fewer_rows(steps: list[StepWithTokens]) -> Iterator[list[StepWithTokens]]:
    """A new batch without one of its rows, and without what was given to it."""
    for at, (step, _) in enumerate(steps):
        if isinstance(step, New) and step.rows is not None and step.rows > 1:
            for row in range(step.rows):
                fewer = replace(step, rows=step.rows - 1)
                rest = [_without_row(one, step.branch, row) for one in steps[at + 1 :]]
                yield [*steps[:at], (fewer, ()), *rest]


def _without_row(one: StepWithTokens, branch: str, row: int) -> StepWithTokens:
    step, tokens = one
    if isinstance(step, Append) and step.branch == branch and row < len(step.sizes) > 1:
        begin = sum(step.sizes[:row])
        sizes = step.sizes[:row] + step.sizes[row + 1 :]
        return replace(step, sizes=sizes), tokens[:begin] + tokens[begin + step.sizes[row] :]
    return one


def choose_rows(steps: list[StepWithTokens]) -> Iterator[list[StepWithTokens]]:
    """A reorder or a split that chooses fewer rows, or lower ones, or a single one."""
    widest = max(len(step.sizes) for step, _ in steps if isinstance(step, Append))
    for at, (step, _) in enumerate(steps):
        rows = step.rows if isinstance(step, Reorder | Fork) else None
        if rows is None:
            continue
        options: list[tuple[int, ...]] = []
        if len(rows) > 1:
            options += [(row,) for row in range(widest)]
        for place in range(len(rows)):
            options += [rows[:place] + rows[place + 1 :]] if len(rows) > 1 else []
            options += [(*rows[:place], low, *rows[place + 1 :]) for low in range(rows[place])]
        for chosen in options:
            changed = replace(step, rows=chosen)  # type: ignore[arg-type]  # one of the two
            yield [*steps[:at], (changed, ()), *steps[at + 1 :]]


def swap_rows(steps: list[StepWithTokens]) -> Iterator[list[StepWithTokens]]:
    """Two rows of a call exchanged, so that 2/1 becomes 1/2."""
    for at, (step, tokens) in enumerate(steps):
        if not isinstance(step, Append):
            continue
        ends = list(accumulate(step.sizes))
        rows = [tokens[end - size : end] for size, end in zip(step.sizes, ends, strict=True)]
        for left, right in combinations(range(len(rows)), 2):
            other = rows.copy()
            other[left], other[right] = rows[right], rows[left]
            changed = replace(step, sizes=tuple(map(len, other)))
            yield [*steps[:at], (changed, tuple(chain.from_iterable(other))), *steps[at + 1 :]]


def plainer(steps: list[StepWithTokens]) -> Iterator[list[StepWithTokens]]:
    """A new cache in place of a fork, a split in place of a reorder, a merge the other way round.

    Each is possible wherever the other is.
    """
    names = {step.branch for step, _ in steps} | {FIRST}
    fresh = next(name for name in map(branch_name, range(len(names) + 1)) if name not in names)
    for at, (step, _) in enumerate(steps):
        other: Step
        rest = steps[at + 1 :]
        match step:
            case Fork(branch=branch, rows=rows):
                other = New(branch, None if rows is None else len(rows))
            case Reorder(branch=branch, rows=rows):
                other = Fork(fresh, branch, rows)
                rest = [(_on_branch(one, branch, fresh), some) for one, some in rest]
            case Merge(branch=branch, sources=(left, right)):
                other = Merge(branch, (right, left))
            case _:
                continue
        yield [*steps[:at], (other, ()), *rest]


def exchange(steps: list[StepWithTokens]) -> Iterator[list[StepWithTokens]]:
    """From some step on, the steps of two branches exchanged."""
    for at in range(1, len(steps)):
        before = sorted({FIRST, *(step.branch for step, _ in steps[:at])})
        for left, right in combinations(before, 2):
            rest = [(_exchanged(step, left, right), some) for step, some in steps[at:]]
            yield [*steps[:at], *rest]


def _exchanged(step: Step, left: str, right: str) -> Step:
    """``step`` with two branch names exchanged, by way of a third that no branch has."""
    for old, new in ((left, ""), (right, left), ("", right)):
        step = _on_branch(step, old, new)
    return step
