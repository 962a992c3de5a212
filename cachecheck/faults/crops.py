"""Rollbacks that end at another length than asked for."""

from __future__ import annotations

from cachecheck.faults.fault import Fault, as_kind
from cachecheck.reference.cache import Cache
from cachecheck.reference.caches.copying import copying
from cachecheck.reference.caches.ring import Ring, RingCache, ring
from cachecheck.reference.caches.shared import Shared, SharedCache, SharedDecoder, shared
from cachecheck.reference.caches.static import Static, StaticCache, static
from cachecheck.reference.decoder import Copying
from cachecheck.reference.stored import InPlaceDecoder, StoredDecoder


class KeepsOneMore(InPlaceDecoder[StaticCache]):
    """Takes the length for the last position that stays."""

    def crop(self, cache: StaticCache, length: int) -> StaticCache:
        """One token more than asked for, where there is one."""
        return super().crop(cache, min(length + 1, cache.length))


class KeepsOneLess(SharedDecoder):
    """Takes back the token before the rejected ones as well."""

    def crop(self, cache: SharedCache, length: int) -> SharedCache:
        """One token less than asked for, unless there is nothing to take back."""
        return super().crop(cache, length if length == cache.length else max(0, length - 1))


class IgnoresCrop(StoredDecoder[Cache]):
    """Takes nothing back, and says nothing."""

    def crop(self, cache: Cache, length: int) -> Cache:  # noqa: ARG002
        """The cache as it is."""
        return cache


class CropsEvicted(InPlaceDecoder[RingCache]):
    """Rolls back whatever the ring has lost."""

    def _check_retained(self, cache: RingCache, length: int) -> None:
        """Any length will do."""


CROPS = (
    Fault(
        id="static-crop-keeps-one-more",
        kind="static",
        mechanism="crop",
        symptom="After a rollback the first of the rejected tokens is still there.",
        law="crop",
        make=as_kind(static, KeepsOneMore, Static),
        tokens=3,
        steps=3,
    ),
    Fault(
        id="shared-crop-keeps-one-less",
        kind="shared",
        mechanism="crop",
        symptom="After a rollback the last of the accepted tokens is gone too.",
        law="crop",
        make=as_kind(shared, KeepsOneLess, Shared),
        tokens=3,
        steps=3,
    ),
    Fault(
        id="copying-crop-ignored",
        kind="copying",
        mechanism="crop",
        symptom="A rollback returns the cache with all its tokens.",
        law="crop",
        make=as_kind(copying, IgnoresCrop, Copying),
        tokens=3,
        steps=3,
    ),
    Fault(
        id="ring-crop-goes-ahead",
        kind="ring",
        mechanism="crop",
        symptom="A wrapped ring rolls back to where its slots have been overwritten.",
        law="crop",
        make=as_kind(ring, CropsEvicted, Ring),
        tokens=9,
        steps=3,
    ),
)
