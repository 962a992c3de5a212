"""Forks that are not independent: what one branch writes, another one reads."""

from __future__ import annotations

from cachecheck.faults.fault import Fault, as_kind
from cachecheck.reference.caches.shared import (
    GrowingBuffer,
    Shared,
    SharedDecoder,
    shared,
)
from cachecheck.reference.caches.static import Static, StaticCache, StaticLayer, static
from cachecheck.reference.stored import InPlaceDecoder


class SharingDecoder(InPlaceDecoder[StaticCache]):
    """Its forks have a length of their own, but the buffers of their source."""

    def fork(self, cache: StaticCache) -> StaticCache:
        """A shallow copy, where a deep one is due."""
        layers = tuple(StaticLayer(one.key, one.value, one.length) for one in cache.layers)
        return StaticCache(layers, cache.fingerprint, cache.length, cache.last_chunk)


class OverwrittenBuffer(GrowingBuffer):
    """A buffer whose tip anybody may take."""

    def branch(self, length: int) -> GrowingBuffer:
        """This buffer itself, wound back over what a sibling has written."""
        self.used = length
        return self


class OverwrittenStorage(Shared):
    """Makes buffers that siblings overwrite."""

    buffer_type = OverwrittenBuffer


FORKS = (
    Fault(
        id="static-fork-shares-buffers",
        kind="static",
        mechanism="fork",
        symptom="Two forks write their new tokens into the same slots.",
        law="branch",
        make=as_kind(static, SharingDecoder, Static),
        tokens=3,
        steps=4,
    ),
    Fault(
        id="shared-tip-overwritten",
        kind="shared",
        mechanism="fork",
        symptom="A branch whose tip was taken by its sibling writes over it in place of copying.",
        law="branch",
        make=as_kind(shared, SharedDecoder, OverwrittenStorage),
        tokens=3,
        steps=4,
    ),
)
