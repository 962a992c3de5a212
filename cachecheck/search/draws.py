"""How sequences and their cuts are drawn: a generator in, plain values out."""

from __future__ import annotations

import random
from itertools import pairwise

from cachecheck.schedule import Schedule

_LARGE = 64
_FULL_WINDOW = 0.36  # of the 70% of cases that have random cuts


def draw_length(rng: random.Random, least: int, most: int, window: int | None) -> int:
    """Long sequences meet what short ones do and more; those around a window meet its edges."""
    around = {window - 1, window, window + 1, window + 2, 2 * window} if window else set()
    edges = sorted(length for length in around if least <= length <= most)
    kind = rng.random()
    if edges and kind < 0.3:
        return rng.choice(edges)
    if kind < 0.7:
        return rng.randint(max(least, (2 * most) // 3), most)
    return rng.randint(least, most)


def draw_chunks(
    rng: random.Random, length: int, least_calls: int, window: int | None = None
) -> Schedule:
    """Random cuts mostly; and what servers do: one prefill then single tokens, equal chunks.

    With a window, every fourth case has a cut where the window is full.
    """
    while True:
        kind = rng.random()
        if kind < 0.15:
            first = rng.randint(1, length)
            chunks = [first, *[1] * (length - first)]
        elif kind < 0.3:
            size = rng.choice((1, 1, 2, 3, 4, 5, 8))
            chunks = [size] * (length // size) + [length % size] * (length % size > 0)
        else:
            count = min(length - 1, rng.choice((0, 1, 1, 1, 2, 2, 3, 4, 6)))
            cuts = set(rng.sample(range(1, length), count))
            if window is not None and window < length and rng.random() < _FULL_WINDOW:
                cuts.add(window)
            edges = [0, *sorted(cuts), length]
            chunks = [stop - start for start, stop in pairwise(edges)]
        if len(chunks) >= min(least_calls, length):
            return Schedule.of(chunks)


def draw_tokens(rng: random.Random, length: int, vocab_size: int) -> tuple[int, ...]:
    """Any tokens; sometimes few different ones, for faults that repeats bring out."""
    if vocab_size > _LARGE and rng.random() < 0.3:
        # In a large vocabulary the IDs with a meaning (pads, begin, end) would never come up.
        special = (0, 1, vocab_size - 2, vocab_size - 1)
        return tuple(
            rng.choice(special) if rng.random() < 0.3 else rng.randrange(vocab_size)
            for _ in range(length)
        )
    few = [rng.randrange(vocab_size) for _ in range(rng.choice((1, 2, 4)))]
    if rng.random() < 0.2:
        return tuple(rng.choice(few) for _ in range(length))
    return tuple(rng.randrange(vocab_size) for _ in range(length))
