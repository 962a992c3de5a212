"""Smaller cases that still fail.

Hypothesis shrinks what it drew, in the order in which it was drawn; dropping a token from the
middle while a cut moves along is not among its moves, and some failures stay too large. The moves
here are made for schedules: on the wrong masks they reach the same schedules with half the calls.
"""

from __future__ import annotations

from collections.abc import Callable

from cachecheck.schedule import Case
from cachecheck.schedule.steps import sort_key
from cachecheck.shrink import plain, programs
from cachecheck.shrink.coarse import coarse, cut_after

__all__ = ["coarse", "cut_after", "shrink", "size_of"]

_TRIES = 20_000
"""Cases tried at most; ordinary failures take some hundreds."""

Size = tuple[int, int, tuple[tuple[int, ...], ...], tuple[int, ...]]


def size_of(case: Case) -> Size:
    """The size of a case, to compare: tokens, then steps, then how plain they are, then token IDs.

    Of plain schedules: fewer tokens, fewer calls, earlier cuts, lower tokens.
    """
    steps = case.schedule.steps
    return len(case.tokens), len(steps), tuple(map(sort_key, steps)), case.tokens


def shrink(case: Case, fails: Callable[[Case], bool], *, least_calls: int = 1) -> Case:
    """The smallest case, by `size_of`, reachable by single moves that each keep failing.

    Args:
        case: one that fails.
        fails: True for a case that fails in the same way. Called on smaller cases only, each once.
        least_calls: cases with fewer steps are not tried.
    """
    tried = {case}
    improved = True
    while improved and len(tried) < _TRIES:
        improved = False
        moves = plain.smaller if case.schedule.plain else programs.smaller
        for candidate in moves(case):
            if candidate in tried or len(candidate.schedule.steps) < least_calls:
                continue
            tried.add(candidate)
            if size_of(candidate) < size_of(case) and fails(candidate):
                case, improved = candidate, True
                break
    return case
