"""Rings that lose what a row may still see."""

from __future__ import annotations

from cachecheck.faults.fault import Fault, as_kind
from cachecheck.reference.cache import LayerCache
from cachecheck.reference.caches.ring import EMPTY, Ring, RingLayer, ring
from cachecheck.reference.caches.sinks import sinks
from cachecheck.reference.positions import Ints
from cachecheck.reference.stored import InPlaceDecoder
from cachecheck.reference.weights import Floats


class WrittenFirst(RingLayer):
    """Is written before the chunk attends."""

    def append(self, key: Floats, value: Floats, positions: Ints) -> LayerCache:
        """What the ring will hold after the chunk; one that is longer attends as it should."""
        if len(positions) > len(self.held):
            return super().append(key, value, positions)
        after = self.fork()
        after.write(key, value, positions)
        after.length = int(positions[-1]) + 1
        return after.ordered()


class WrittenFirstStorage(Ring):
    """Makes rings that are written first."""

    layer_type = WrittenFirst


class ForgetsSinks(RingLayer):
    """Evicts a sink when it leaves the window, like any other position."""

    def write(self, key: Floats, value: Floats, positions: Ints) -> None:
        """Into the slots as ever; then the sinks that are too old are dropped."""
        super().write(key, value, positions)
        window = len(self.held) - self.sinks
        self.held[self.held <= positions[-1] - window] = EMPTY


class ForgetsSinksStorage(Ring):
    """Makes rings that do not keep their sinks."""

    layer_type = ForgetsSinks


WINDOWS = (
    Fault(
        id="ring-written-before-attending",
        kind="ring",
        mechanism="ring",
        symptom="The first rows of a chunk miss keys that its last tokens have overwritten.",
        law="schedule",
        make=as_kind(ring, InPlaceDecoder, WrittenFirstStorage),
        tokens=8,
        steps=2,
    ),
    Fault(
        id="sinks-evicted",
        kind="sinks",
        mechanism="evict",
        symptom="The first positions leave the cache with the window, though they should stay.",
        law="schedule",
        make=as_kind(sinks, InPlaceDecoder, ForgetsSinksStorage),
        tokens=9,
        steps=2,
    ),
)
