"""What a search draws: decoders, and cases to try a law on."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from cachecheck.guard import Guarded
from cachecheck.laws import Law
from cachecheck.schedule import Case, Schedule

LENGTH = 24
"""Longest sequence drawn by default, as in the published experiment."""

# A window is crossed twice over up to the first of these, by a few tokens up to the second; what is
# longer still needs --max-length, and the verdict says so.
_CROSSED_TWICE, _CROSSED = 96, 300


@dataclass(frozen=True)
class Effort:
    """How hard to search.

    Attributes:
        seed: of the cases; decoders get this seed and the ones after it.
        examples: cases to draw.
        max_length: longest sequence; None for 24, or more where a window asks for it.
    """

    seed: int = 0
    examples: int = 200
    max_length: int | None = None


@dataclass(frozen=True)
class Drawn:
    """A case, and the decoder it is tried on."""

    decoder_seed: int
    decoder: Guarded
    case: Case

    def fits(self) -> bool:
        """Whether the decoder has the case's tokens in its vocabulary, and room for them."""
        room = self.decoder.capabilities.max_length
        fits = room is None or len(self.case.tokens) <= room
        return fits and max(self.case.tokens) < self.decoder.vocab_size


def longest(decoder: Guarded, max_length: int | None) -> int:
    """The longest sequence to draw for ``decoder``."""
    declared = decoder.capabilities
    wanted = max_length
    if wanted is None:
        wanted = LENGTH
        window = declared.window or 0
        for across, end in ((window + 8, _CROSSED), (2 * window + 2, _CROSSED_TWICE)):
            wanted = max(wanted, across) if across <= end else wanted
    return wanted if declared.max_length is None else min(wanted, declared.max_length)


def cases(
    make: Callable[[int], Guarded], decoder_seeds: range, law: Law, effort: Effort
) -> SearchStrategy[Drawn]:
    """Decoders and cases for ``law``.

    Hypothesis draws one number, and `random` makes the case from it. Drawn piece by piece, cases
    come out short and as near copies of each other (Hypothesis repeats and mutates what it drew): a
    fault that waits for 16 tokens of history took 42 cases to meet instead of 5. What is lost is
    Hypothesis' shrinking, which `shrink` does better here.
    """

    def from_number(number: int) -> Drawn:
        # With the seed, since Hypothesis begins every search with the number 0.
        rng = random.Random(f"{effort.seed}/{number}")  # noqa: S311 - nothing secret about it
        seed = rng.choice(decoder_seeds)
        decoder = make(seed)
        most = longest(decoder, effort.max_length)
        length = _length(rng, min(law.least_calls, most), most, decoder.capabilities.window)
        chunks = _chunks(rng, length, law.least_calls)
        return Drawn(seed, decoder, Case(_tokens(rng, length, decoder.vocab_size), chunks))

    return st.integers(0, 2**64 - 1).map(from_number)


def _length(rng: random.Random, least: int, most: int, window: int | None) -> int:
    """Long sequences meet what short ones do and more; those around a window meet its edges."""
    around = {window - 1, window, window + 1, window + 2, 2 * window} if window else set()
    edges = sorted(length for length in around if least <= length <= most)
    kind = rng.random()
    if edges and kind < 0.3:
        return rng.choice(edges)
    if kind < 0.7:
        return rng.randint(max(least, (2 * most) // 3), most)
    return rng.randint(least, most)


def _chunks(rng: random.Random, length: int, least_calls: int) -> Schedule:
    """Random cuts mostly; and what servers do: one prefill then single tokens, equal chunks."""
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
            edges = [0, *sorted(rng.sample(range(1, length), count)), length]
            chunks = [stop - start for start, stop in pairwise(edges)]
        if len(chunks) >= min(least_calls, length):
            return Schedule(tuple(chunks))


def _tokens(rng: random.Random, length: int, vocab_size: int) -> tuple[int, ...]:
    """Any tokens; sometimes few different ones, for faults that repeats bring out."""
    few = [rng.randrange(vocab_size) for _ in range(rng.choice((1, 2, 4)))]
    if rng.random() < 0.2:
        return tuple(rng.choice(few) for _ in range(length))
    return tuple(rng.randrange(vocab_size) for _ in range(length))
