"""Caches that are reset and keep something of the request before."""

from __future__ import annotations

from cachecheck.faults.blocks import paged_factory
from cachecheck.faults.fault import Fault, Make
from cachecheck.reference.caches.paged import PagedCache
from cachecheck.reference.caches.paged_decoder import PagedDecoder, paged
from cachecheck.reference.caches.ring import EMPTY, RingCache, RingStorage, ring
from cachecheck.reference.caches.sinks import sinks
from cachecheck.reference.config import Precision
from cachecheck.reference.masks import Bools, allowed
from cachecheck.reference.mechanisms import Mechanisms
from cachecheck.reference.positions import Ints
from cachecheck.reference.stored import InPlaceDecoder


def unordered_mask(
    query_positions: Ints,
    key_positions: Ints,
    *,
    window: int | None,
    sinks: int,
    last_chunk: int,  # noqa: ARG001 - the signature of MaskRule
) -> Bools:
    """The right mask, over keys in any order.

    A cache that keeps what it should have dropped has two keys at one position; the right rule
    refuses that, and a user's goes on.
    """
    return allowed(query_positions, key_positions, window, sinks)


class KeepsSlots(InPlaceDecoder[RingCache]):
    """Winds its counters back to 0 and leaves the slots as they are."""

    def reset(self, cache: RingCache) -> RingCache:
        """The old tokens stay visible at their positions until they are overwritten."""
        cache.length = cache.last_chunk = 0
        for layer in cache.layers:
            layer.length = 0
        return cache


class SkipsLastRing(InPlaceDecoder[RingCache]):
    """Empties all rings but the last layer's."""

    def reset(self, cache: RingCache) -> RingCache:
        """The last layer's counter moves too, so that nothing is noticed."""
        last = cache.layers[-1]
        slot_positions = last.slot_positions.copy()
        super().reset(cache)
        last.slot_positions[:] = slot_positions
        return cache


class KeepsSinks(InPlaceDecoder[RingCache]):
    """Takes the sinks for what is never dropped, not even in a reset."""

    def reset(self, cache: RingCache) -> RingCache:
        """The slots of the window alone are emptied."""
        cache.length = cache.last_chunk = 0
        for layer in cache.layers:
            layer.slot_positions[layer.sinks :] = EMPTY
            layer.length = 0
        return cache


class KeepsTable(PagedDecoder):
    """Winds the length back to 0 and keeps the blocks, those that a fork reads among them."""

    def reset(self, cache: PagedCache) -> PagedCache:
        """The next request writes over the old one's blocks."""
        cache.length = cache.last_chunk = 0
        return cache


def _ring(decoder: type[InPlaceDecoder[RingCache]], right: Make) -> Make:
    def make(seed: int, dtype: Precision = "float64") -> InPlaceDecoder[RingCache]:
        config = right(seed, dtype).config
        return decoder(config, RingStorage, seed=seed, mechanisms=Mechanisms(unordered_mask))

    return make


RESETS = (
    Fault(
        id="ring-reset-keeps-slots",
        host="ring",
        kind="reset-incomplete",
        mechanism="reset",
        symptom="A ring that was reset still shows what the last request left in its slots.",
        law="reset",
        reports=("Lightning-AI/litgpt#1647",),
        make=_ring(KeepsSlots, ring),
        right=ring,
        smallest="1 reset 1",
    ),
    Fault(
        id="sinks-reset-skips-last-layer",
        host="sinks",
        kind="reset-incomplete",
        mechanism="reset",
        symptom="A reset empties the rings of all layers but the last.",
        law="reset",
        reports=("EricLBuehler/candle-vllm#12",),
        make=_ring(SkipsLastRing, sinks),
        right=sinks,
        smallest="1 reset 1",
        when="in the last layer alone",
    ),
    Fault(
        id="sinks-reset-keeps-sinks",
        host="sinks",
        kind="reset-incomplete",
        mechanism="reset",
        symptom="The first tokens of one request stay as sinks of the next.",
        law="reset",
        reports=("EricLBuehler/candle-vllm#6",),
        make=_ring(KeepsSinks, sinks),
        right=sinks,
        smallest="1 reset 1",
    ),
    Fault(
        id="paged-reset-keeps-table",
        host="paged",
        kind="reset-incomplete",
        mechanism="reset",
        symptom="A reset sets the length to 0 and gives no block back.",
        law="reset",
        reports=("rasbt/LLMs-from-scratch#925",),
        make=paged_factory(KeepsTable),
        right=paged,
        smallest="1 reset",
    ),
)
