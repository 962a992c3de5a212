"""What a search draws: decoders, and cases to try a law on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from cachecheck import strategies as cs
from cachecheck.guard import Guarded
from cachecheck.laws import Law
from cachecheck.schedule import Case, Schedule

LENGTH = 24
"""Longest sequence drawn by default, as in the published experiment."""

_WINDOWED_LENGTH = 96  # a window is crossed up to here; a longer one needs --max-length


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
        if declared.window is not None and 2 * declared.window + 2 <= _WINDOWED_LENGTH:
            wanted = max(wanted, 2 * declared.window + 2)
    return wanted if declared.max_length is None else min(wanted, declared.max_length)


def cases(
    make: Callable[[int], Guarded], decoder_seeds: range, law: Law, max_length: int | None
) -> SearchStrategy[Drawn]:
    """Decoders and cases for ``law``; shrinks towards few tokens, few calls, the first seed."""

    @st.composite
    def drawn(draw: DrawFn) -> Drawn:
        seed = draw(st.integers(decoder_seeds.start, decoder_seeds.stop - 1))
        decoder = make(seed)
        most = longest(decoder, max_length)
        length = draw(
            cs.lengths(
                min_value=min(law.least_calls, most),
                max_value=most,
                window=decoder.capabilities.window,
            )
        )
        chunks = draw(cs.chunk_partitions(length, min_chunks=law.least_calls))
        tokens = draw(cs.token_ids(decoder.vocab_size, min_size=length, max_size=length))
        return Drawn(seed, decoder, Case(tokens, Schedule(chunks)))

    return drawn()
