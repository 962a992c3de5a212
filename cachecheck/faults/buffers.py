"""Preallocated buffers that are not emptied, or not refused when they are full."""

from __future__ import annotations

from typing import Any

import numpy as np

from cachecheck.faults.fault import Fault, as_kind
from cachecheck.reference.caches.static import Static, StaticCache, static
from cachecheck.reference.stored import InPlaceDecoder
from cachecheck.reference.weights import Floats


class LengthStays(InPlaceDecoder[StaticCache]):
    """Empties the buffers in a reset and leaves their length."""

    def reset(self, cache: StaticCache) -> StaticCache:
        """Zeros, as many as there were tokens."""
        for layer in cache.layers:
            layer.key[:] = 0
            layer.value[:] = 0
        return cache


class Clamping(InPlaceDecoder[StaticCache]):
    """Writes what no longer fits into the last slot."""

    def extend(self, tokens: Any, cache: StaticCache) -> tuple[Floats, StaticCache]:
        """Token by token where the buffer ends, so that each takes the last one's place."""
        room = cache.layers[0].key.shape[1]
        if cache.length + len(tokens) <= room:
            return super().extend(tokens, cache)
        rows = []
        for token in tokens:
            if cache.length == room:
                cache.crop(room - 1)
            some, cache = super().extend([token], cache)
            rows.append(some)
        return np.concatenate(rows), cache


BUFFERS = (
    Fault(
        id="static-reset-keeps-length",
        kind="static",
        mechanism="reset",
        symptom="After a reset the next request begins behind as many empty slots as were used.",
        law="reset",
        make=as_kind(static, LengthStays, Static),
        tokens=2,
        steps=3,
    ),
    Fault(
        id="static-overflow-clamps",
        kind="static",
        mechanism="overflow",
        symptom="Past its last slot a full buffer overwrites that slot in place of an error.",
        law="overflow",
        make=as_kind(static, Clamping, Static),
        tokens=1,
        steps=1,
    ),
)
