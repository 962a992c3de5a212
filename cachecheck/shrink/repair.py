"""Steps with their tokens, and the repair of steps that no longer fit together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cachecheck.errors import InputError
from cachecheck.schedule import (
    FIRST,
    Append,
    Branches,
    Case,
    Crop,
    Fork,
    Merge,
    New,
    Reorder,
    Schedule,
    Step,
    branch_name,
)

StepWithTokens = tuple[Step, tuple[int, ...]]
"""A step and the tokens that it appends."""


def steps_of(case: Case) -> list[StepWithTokens]:
    """The steps of a case, each with the tokens it appends."""
    steps, at = [], 0
    for step in case.schedule.steps:
        size = sum(step.sizes) if isinstance(step, Append) else 0
        steps.append((step, case.tokens[at : at + size]))
        at += size
    return steps


def case_of(steps: Sequence[StepWithTokens]) -> Case:
    """The case of these steps, which must fit."""
    tokens = tuple(token for _, some in steps for token in some)
    return Case(tokens, Schedule(tuple(step for step, _ in steps)))


def repair(steps: Sequence[StepWithTokens]) -> list[StepWithTokens]:
    """Steps that fit: impossible ones are left out, lengths and rows are brought into range.

    Branches are renamed in the order of their creation.
    """
    branches, names, kept = Branches(), {FIRST: FIRST}, list[StepWithTokens]()
    for old, tokens in steps:
        try:
            step = _renamed(old, names, branches)
            step, some = _fitted(step, tokens, branches)
            branches.apply(step, some)
        except (InputError, KeyError):
            continue
        if not isinstance(step, Append) or some:
            kept.append((step, some))
    return kept


def _renamed(step: Step, names: dict[str, str], branches: Branches) -> Step:
    """``step`` with its branches' new names; KeyError where one does not exist any more."""
    match step:
        case Fork(source=source):
            step = replace(step, source=names[source])
        case Merge(sources=(left, right)):
            step = replace(step, sources=(names[left], names[right]))
    if isinstance(step, New | Fork | Merge):
        names[step.branch] = branch_name(len(branches.live) + len(branches.ended))
    return replace(step, branch=names[step.branch])


def _fitted(
    step: Step, tokens: tuple[int, ...], branches: Branches
) -> tuple[Step, tuple[int, ...]]:
    """``step`` within the range of its branch's tokens and rows."""
    match step:
        case Append(branch=name, sizes=sizes):
            count = len(branches.live[name].rows)
            sizes = (sizes * count)[:count] if len(sizes) < count else sizes[:count]
            needed = sum(sizes)
            tokens = (tokens * needed)[:needed] if len(tokens) < needed else tokens[:needed]
            return replace(step, sizes=sizes), tokens
        case Crop(branch=name, length=length):
            most = branches.live[name].length
            if most < 1:
                raise InputError("nothing to roll back")
            return replace(step, length=min(length, most)), ()
        case Reorder(branch=name, rows=rows):
            return replace(step, rows=_within(rows, len(branches.live[name].rows))), ()
        case Fork(source=source, rows=rows) if rows is not None:
            return replace(step, rows=_within(rows, len(branches.live[source].rows))), ()
    return step, ()


def _within(rows: tuple[int, ...], count: int) -> tuple[int, ...]:
    return tuple(min(row, count - 1) for row in rows)
