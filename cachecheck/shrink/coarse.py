"""Bold moves for long cases: thousands of tokens down to a few with few calls.

Single steps from 4,096 tokens would take thousands of tries, each of them slow. So sizes are tried
from the smallest up, doubling: most mistakes need very little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from cachecheck.schedule import Append, Case, Crop
from cachecheck.shrink.repair import Fed, case_of, fed_of, repaired

_SHORT = 24
"""Tokens and steps from which on the fine moves take over."""


def coarse(case: Case, fails: Callable[[Case], bool]) -> Case:
    """A much smaller case that still fails, while there is one a bold move away.

    Args:
        case: one that fails.
        fails: whether a case fails in the same way.
    """
    tried = {case}
    improved = True
    while improved and _load(case) > _SHORT:
        improved = False
        for candidate in _bold(case):
            if candidate in tried:
                continue
            tried.add(candidate)
            if _load(candidate) < _load(case) and fails(candidate):
                case, improved = candidate, True
                break
    return case


def _load(case: Case) -> int:
    return len(case.tokens) + len(case.schedule.steps)


def cut_after(case: Case, call: int, row: int) -> Case:
    """A plain case without what comes after a row of a call, counted from 1 and 0."""
    start, _ = case.schedule.spans[call - 1]
    chunks = (*case.schedule.chunks[: call - 1], row + 1)
    return Case.of(case.tokens[: start + row + 1], chunks)


def _bold(case: Case) -> Iterator[Case]:
    fed = fed_of(case)
    for moves in (_all_short, _without_runs, _joined, _one_short):
        for candidate in moves(fed):
            fitting = repaired(candidate)
            if any(tokens for _, tokens in fitting):
                yield case_of(fitting)


def _sizes(longest: int) -> Iterator[int]:
    size = 1
    while size < longest:
        yield size
        size *= 2


def _all_short(fed: list[Fed]) -> Iterator[list[Fed]]:
    """No call with more than so many tokens, its last ones; rollbacks in proportion."""
    longest = max(max(step.sizes) for step, _ in fed if isinstance(step, Append))
    for size in _sizes(longest):
        yield [_shortened(one, size, longest) for one in fed]


def _shortened(fed: Fed, most: int, longest: int) -> Fed:
    step, tokens = fed
    if isinstance(step, Crop):
        return replace(step, length=max(1, step.length * most // longest)), ()
    if not isinstance(step, Append):
        return fed
    kept: tuple[int, ...] = ()
    at = 0
    for size in step.sizes:
        at += size
        kept += tokens[at - min(size, most) : at]
    return replace(step, sizes=tuple(min(size, most) for size in step.sizes)), kept


def _without_runs(fed: list[Fed]) -> Iterator[list[Fed]]:
    """Without a run of steps: all but the last, halves, quarters and so on."""
    size = len(fed) - 1
    while size >= 1:
        for start in range(0, len(fed) - size + 1, size):
            yield fed[:start] + fed[start + size :]
        size //= 2


def _joined(fed: list[Fed]) -> Iterator[list[Fed]]:
    """Runs of calls on one branch in one call: all before the last, then halves."""
    size = len(fed) - 1
    while size >= 2:
        for start in range(0, len(fed) - size + 1, size):
            run = fed[start : start + size]
            branches = {
                step.branch if isinstance(step, Append) and len(step.sizes) == 1 else None
                for step, _ in run
            }
            name = branches.pop()
            if name is not None and not branches:
                tokens = tuple(token for _, some in run for token in some)
                joined = (Append(name, (len(tokens),)), tokens)
                yield [*fed[:start], joined, *fed[start + size :]]
        size //= 2


def _one_short(fed: list[Fed]) -> Iterator[list[Fed]]:
    """One call shorter, from the longest on."""
    longest_first = sorted(range(len(fed)), key=lambda at: len(fed[at][1]), reverse=True)
    for at in longest_first:
        step, _ = fed[at]
        if isinstance(step, Append):
            for size in _sizes(max(step.sizes)):
                yield [*fed[:at], _shortened(fed[at], size, max(step.sizes)), *fed[at + 1 :]]
