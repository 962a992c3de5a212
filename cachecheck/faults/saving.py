"""Saved caches that come back without their positions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cachecheck.faults.fault import Fault, stored_factory
from cachecheck.reference.cache import LayerState
from cachecheck.reference.caches.paged import PagedCache, PagedStorage
from cachecheck.reference.caches.paged_decoder import PagedDecoder, paged
from cachecheck.reference.caches.ring import RingCache, RingStorage, ring
from cachecheck.reference.config import Precision
from cachecheck.reference.stored import InPlaceDecoder


class Renumbered(RingStorage):
    """Numbers what it loads from 0, as if nothing had ever been evicted."""

    def restore(self, layers: Sequence[LayerState], length: int, last_chunk: int) -> RingCache:
        """A cache of as many tokens as there are keys."""
        count = len(layers[0]["positions"])
        numbered = [{**one, "positions": np.arange(count)} for one in layers]
        return super().restore(numbered, min(length, count), last_chunk)


class WholeBlocks(PagedStorage):
    """Takes the slots of the blocks that it loads for tokens."""

    def restore(self, layers: Sequence[LayerState], length: int, last_chunk: int) -> PagedCache:
        """A cache whose last block is full, of zeros beyond the tokens."""
        cache = super().restore(layers, length, last_chunk)
        size, pool = cache.pool.block_size, cache.pool
        cache.length = len(cache.table) * size
        if length % size:  # zeros, so that a failure does not depend on the block's last user
            pool.key[:, cache.table[-1], :, length % size :] = 0
            pool.value[:, cache.table[-1], :, length % size :] = 0
        return cache


def _whole_blocks(seed: int, dtype: Precision = "float64") -> PagedDecoder:
    decoder = paged(seed, dtype)
    decoder.storage = WholeBlocks(decoder.weights, decoder.storage.pool.block_size)
    return decoder


SAVING = (
    Fault(
        id="ring-save-without-positions",
        host="ring",
        kind="save-restore-incomplete",
        mechanism="save",
        symptom="A loaded ring numbers its keys from 0, whatever was evicted before.",
        law="save",
        reports=("ggml-org/llama.cpp#25297",),
        make=stored_factory(ring, InPlaceDecoder, Renumbered),
        right=ring,
        smallest="5 save 1",
    ),
    Fault(
        id="paged-save-without-length",
        host="paged",
        kind="save-restore-incomplete",
        mechanism="save",
        symptom="A loaded cache continues after its last block, as if that had been full.",
        law="save",
        reports=("ggml-org/llama.cpp#27052",),
        make=_whole_blocks,
        right=paged,
        smallest="1 save 1",
    ),
)
