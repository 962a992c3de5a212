"""Single draws: a number, one of several, a chance.

Whatever is drawn is a number from 0 on. Older versions of Hypothesis cannot read others out of
bytes, as the search has them read, and so a seed gives the same cases with all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

T = TypeVar("T")


@lru_cache(maxsize=4096)
def _up_to(high: int) -> SearchStrategy[int]:
    """Kept: making a strategy takes longer than drawing from it."""
    return st.integers(0, high)


def number(draw: DrawFn, low: int, high: int) -> int:
    """An integer from ``low`` to ``high``; shrinks towards ``low``."""
    return low + draw(_up_to(high - low))


def pick(draw: DrawFn, options: Sequence[T]) -> T:
    """One of them; shrinks towards the first."""
    return options[number(draw, 0, len(options) - 1) if len(options) > 1 else 0]


def chance(draw: DrawFn, percent: int) -> bool:
    """True in so many of 100 cases; shrinks towards False."""
    return number(draw, 0, 99) >= 100 - percent
