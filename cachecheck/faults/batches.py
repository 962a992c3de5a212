"""Batches whose rows get mixed up, with each other or with pads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cachecheck.faults.fault import Fault, Make
from cachecheck.reference.caches.batch_cache import BatchCache
from cachecheck.reference.caches.batched import BatchedDecoder, batched
from cachecheck.reference.config import Config
from cachecheck.reference.masks import Bools
from cachecheck.reference.positions import Ints


class SwapsMerged(BatchedDecoder):
    """Puts the rows of the second batch before those of the first."""

    def merge(self, caches: Sequence[BatchCache]) -> BatchCache:
        """The batches in the wrong order."""
        return super().merge(caches[::-1])


class SeesPads(BatchedDecoder):
    """Lets rows attend to the pads before them."""

    def __init__(self, config: Config, *, seed: int = 0) -> None:
        super().__init__(config, seed=seed)
        # A pad that is the row's first token once more, at the same position, changes nothing: the
        # first of a vocabulary would hide what the last shows.
        self.pad_token = config.vocab_size - 1

    def _cached_mask(self, query: Ints, key: Ints) -> Bools:
        """Pads are taken for what they look like: tokens at position 0."""
        return super()._cached_mask(query, np.maximum(key, 0))


def _batched(decoder: type[BatchedDecoder]) -> Make:
    def make(seed: int) -> BatchedDecoder:
        return decoder(batched(seed).config, seed=seed)

    return make


BATCHES = (
    Fault(
        id="batched-merge-swaps-rows",
        kind="batched",
        mechanism="merge",
        symptom="Two batches are merged in the wrong order, and rows go on with others' histories.",
        law="reorder",
        make=_batched(SwapsMerged),
        tokens=3,
        steps=5,
    ),
    Fault(
        id="batched-pads-unmasked",
        kind="batched",
        mechanism="mask",
        symptom="The rows of a shorter sequence attend to the pads in front of it.",
        law="batch",
        make=_batched(SeesPads),
        tokens=3,
        steps=2,
    ),
)
