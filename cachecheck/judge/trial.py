"""A trial: a case, and the decoder that it is tried on."""

from __future__ import annotations

from dataclasses import dataclass

from cachecheck.guard import Guarded
from cachecheck.schedule import Case


@dataclass(frozen=True)
class Trial:
    """A case, the decoder that it is tried on, and the seed of that decoder."""

    decoder_seed: int
    decoder: Guarded
    case: Case

    def fits(self) -> bool:
        """True if the decoder has the case's tokens in its vocabulary, and room for them."""
        room = self.decoder.capabilities.max_length
        fits = room is None or self.case.schedule.longest <= room
        return fits and max(self.case.tokens) < self.decoder.vocab_size
