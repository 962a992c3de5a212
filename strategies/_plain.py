"""Plain schedules and tokens for `cases`: long ones mostly, and of every shape.

Each draw is uniform, and shapes share out its range: 0 always stands for the plainest, so that
whatever shrinks the numbers shrinks the case.
"""

from __future__ import annotations

import random
from itertools import pairwise

from hypothesis.strategies import DrawFn

from cachecheck.schedule import Schedule
from cachecheck.strategies._draws import chance, number, pick

ONE_BY_ONE = 64
"""Tokens that are drawn one by one; those after them follow from a single number."""

_LARGE = 64  # tokens of a vocabulary in which some with a meaning would hardly come up
_CUTS = (0, 1, 1, 1, 2, 2, 3, 4, 6)
_SIZES = (1, 1, 2, 3, 4, 5, 8)
_FULL_WINDOW = 36  # percent of the 70% of cases that have random cuts: a quarter of all
_MOST_SEED = 2**32 - 1


def draw_length(draw: DrawFn, least: int, most: int, window: int | None) -> int:
    """Long sequences meet what short ones do and more; those around a window meet its edges.

    The longest of three lengths is long mostly, and shrinks as one of them does.
    """
    around = {window - 1, window, window + 1, window + 2, 2 * window} if window else set()
    edges = sorted(length for length in around if least <= length <= most)
    edge = number(draw, 0, 10 * len(edges) - 1) if edges else 0
    length = max(number(draw, least, most) for _ in range(3))
    return edges[edge % len(edges)] if edge >= 7 * len(edges) > 0 else length


def draw_chunks(draw: DrawFn, length: int, fewest: int, window: int | None) -> Schedule:
    """Random cuts mostly; and what servers do: one prefill then single tokens, equal chunks.

    There are ``fewest`` chunks or more, as far as the length allows. With a window, every fourth
    case has a cut where it is full.
    """
    shape = number(draw, 0, 19)
    fewest = min(fewest, length)
    if shape < 14:
        edges = [0, *sorted(_cuts(draw, length, fewest - 1, window)), length]
        return Schedule.of([stop - start for start, stop in pairwise(edges)])
    if shape < 17:
        singles = number(draw, fewest - 1, length - 1)
        return Schedule.of([length - singles, *[1] * singles])
    size = min(pick(draw, _SIZES), length // fewest)
    return Schedule.of([size] * (length // size) + [length % size] * (length % size > 0))


def _cuts(draw: DrawFn, length: int, fewest: int, window: int | None) -> set[int]:
    """Positions at which a later chunk starts."""
    count = min(max(fewest, pick(draw, _CUTS)), length - 1)
    cuts = {number(draw, 1, length - 1) for _ in range(count)}
    if window is not None and window < length and chance(draw, _FULL_WINDOW):
        cuts.add(window)
    free = (cut for cut in range(1, length) if cut not in cuts)
    while len(cuts) < fewest:  # some were drawn twice
        cuts.add(next(free))
    return cuts


def draw_tokens(draw: DrawFn, length: int, vocab_size: int) -> tuple[int, ...]:
    """Any tokens; sometimes few different ones, for faults that repeats bring out."""
    shape = number(draw, 0, 9)
    if shape >= 7 and vocab_size > _LARGE:
        # In a large vocabulary the IDs with a meaning (pads, begin, end) would never come up.
        special = (0, 1, vocab_size - 2, vocab_size - 1)
        drawn = _numbers(draw, length, vocab_size + (3 * vocab_size) // 7)
        return tuple(one if one < vocab_size else special[one % 4] for one in drawn)
    if shape >= 8:
        few = [number(draw, 0, vocab_size - 1) for _ in range(pick(draw, (1, 2, 4)))]
        return tuple(few[one] for one in _numbers(draw, length, len(few)))
    return _numbers(draw, length, vocab_size)


def _numbers(draw: DrawFn, count: int, end: int) -> tuple[int, ...]:
    """So many numbers below ``end``."""
    first = tuple(number(draw, 0, end - 1) for _ in range(min(count, ONE_BY_ONE)))
    if count <= ONE_BY_ONE:
        return first
    seed = number(draw, 0, _MOST_SEED)
    rng = random.Random(seed)  # noqa: S311 - nothing secret about it
    return first + tuple(rng.randrange(end) if seed else 0 for _ in range(count - ONE_BY_ONE))
