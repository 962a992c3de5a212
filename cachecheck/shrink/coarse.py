"""Bold moves for long cases: from thousands of tokens to a few, with few calls.

Single steps from 4,096 tokens would take thousands of tries, each of them slow. So sizes are tried
from the smallest up, doubling: most mistakes need very little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from cachecheck.schedule import Append, Case, Crop
from cachecheck.shrink.repair import StepWithTokens, case_of, repair, steps_of

_SHORT = 24
"""The fine moves take over at this many tokens and steps together."""


def coarse(case: Case, fails: Callable[[Case], bool]) -> Case:
    """A much smaller case that still fails, while there is one a bold move away.

    Args:
        case: one that fails.
        fails: True for a case that fails in the same way.
    """
    tried = {case}
    improved = True
    while improved and _tokens_and_steps(case) > _SHORT:
        improved = False
        for candidate in _bold(case):
            if candidate in tried:
                continue
            tried.add(candidate)
            if _tokens_and_steps(candidate) < _tokens_and_steps(case) and fails(candidate):
                case, improved = candidate, True
                break
    return case


def _tokens_and_steps(case: Case) -> int:
    return len(case.tokens) + len(case.schedule.steps)


def cut_after(case: Case, call: int, row: int) -> Case:
    """A plain case without what comes after a row of a call, counted from 1 and 0."""
    start, _ = case.schedule.spans[call - 1]
    chunks = (*case.schedule.chunks[: call - 1], row + 1)
    return Case.of(case.tokens[: start + row + 1], chunks)


def _bold(case: Case) -> Iterator[Case]:
    steps = steps_of(case)
    for moves in (_all_short, _without_runs, _joined, _one_short):
        for candidate in moves(steps):
            fitting = repair(candidate)
            if any(tokens for _, tokens in fitting):
                yield case_of(fitting)


def _sizes(longest: int) -> Iterator[int]:
    size = 1
    while size < longest:
        yield size
        size *= 2


def _all_short(steps: list[StepWithTokens]) -> Iterator[list[StepWithTokens]]:
    """Every call cut to its last tokens, at most a few; rollbacks shortened in proportion."""
    longest = max(max(step.sizes) for step, _ in steps if isinstance(step, Append))
    for size in _sizes(longest):
        yield [_shortened(one, size, longest) for one in steps]


def _shortened(one: StepWithTokens, most: int, longest: int) -> StepWithTokens:
    step, tokens = one
    if isinstance(step, Crop):
        return replace(step, length=max(1, step.length * most // longest)), ()
    if not isinstance(step, Append):
        return one
    kept: tuple[int, ...] = ()
    at = 0
    for size in step.sizes:
        at += size
        kept += tokens[at - min(size, most) : at]
    return replace(step, sizes=tuple(min(size, most) for size in step.sizes)), kept


def _without_runs(steps: list[StepWithTokens]) -> Iterator[list[StepWithTokens]]:
    """Without a run of steps: all but the last, halves, quarters and so on."""
    size = len(steps) - 1
    while size >= 1:
        for start in range(0, len(steps) - size + 1, size):
            yield steps[:start] + steps[start + size :]
        size //= 2


def _joined(steps: list[StepWithTokens]) -> Iterator[list[StepWithTokens]]:
    """Runs of calls on one branch in one call: all before the last, then halves."""
    size = len(steps) - 1
    while size >= 2:
        for start in range(0, len(steps) - size + 1, size):
            run = steps[start : start + size]
            branches = {
                step.branch if isinstance(step, Append) and len(step.sizes) == 1 else None
                for step, _ in run
            }
            name = branches.pop()
            if name is not None and not branches:
                tokens = tuple(token for _, some in run for token in some)
                joined = (Append(name, (len(tokens),)), tokens)
                yield [*steps[:start], joined, *steps[start + size :]]
        size //= 2


def _one_short(steps: list[StepWithTokens]) -> Iterator[list[StepWithTokens]]:
    """One call shorter, from the longest on."""
    longest_first = sorted(range(len(steps)), key=lambda at: len(steps[at][1]), reverse=True)
    for at in longest_first:
        step, _ = steps[at]
        if isinstance(step, Append):
            for size in _sizes(max(step.sizes)):
                yield [*steps[:at], _shortened(steps[at], size, max(step.sizes)), *steps[at + 1 :]]
