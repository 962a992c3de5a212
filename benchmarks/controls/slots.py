"""Preallocated slots that are shared, grown, filled with garbage or overwritten, without harm."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from benchmarks.controls.control import Control, factory_of
from cachecheck.reference import Config
from cachecheck.reference.caches.static import StaticCache, StaticLayer, StaticStorage
from cachecheck.reference.positions import Ints
from cachecheck.reference.stored import InPlaceDecoder
from cachecheck.reference.weights import Floats


@dataclass(eq=False)
class Slots(StaticLayer):
    """Preallocated slots with a way to be copied that keeps their class."""

    def fork(self) -> Self:
        """Slots of its own."""
        return replace(self, key=self.key.copy(), value=self.value.copy())


@dataclass(eq=False)
class LazySlots(Slots):
    """Slots that a fork shares until one of the two writes."""

    borrowed: bool = False

    def append(self, key: Floats, value: Floats, positions: Ints) -> StaticLayer:
        """The chunk behind ``length``, in arrays of its own."""
        if self.borrowed:
            self.key, self.value, self.borrowed = self.key.copy(), self.value.copy(), False
        return super().append(key, value, positions)

    def fork(self) -> Self:
        """The same arrays, until somebody writes."""
        self.borrowed = True
        return replace(self)


@dataclass(eq=False)
class GrowingSlots(Slots):
    """Twice as many slots whenever there are too few."""

    def append(self, key: Floats, value: Floats, positions: Ints) -> StaticLayer:
        """The chunk behind ``length``."""
        slots, wanted = self.key.shape[1], int(positions[-1]) + 1
        if wanted > slots:
            more = ((0, 0), (0, max(wanted, 2 * slots) - slots), (0, 0))
            self.key, self.value = np.pad(self.key, more), np.pad(self.value, more)  # (G, N, D)
        return super().append(key, value, positions)


@dataclass(eq=False)
class SlotCache(StaticCache):
    """Layers of slots."""

    layers: tuple[Slots, ...]

    def fork(self) -> SlotCache:
        """Layer by layer, in the layers' own way."""
        return replace(self, layers=tuple(one.fork() for one in self.layers))


class SlotStorage(StaticStorage):
    """The storage of one kind of slots."""

    layer_type: type[Slots] = Slots

    def new(self) -> SlotCache:
        """Empty slots."""
        layers = super().new().layers
        return SlotCache(
            tuple(self.layer_type(one.key, one.value) for one in layers), self.weights.fingerprint
        )


class LazyStorage(SlotStorage):
    """Copies on write."""

    layer_type = LazySlots


class GrowingStorage(SlotStorage):
    """Grows by doubling."""

    layer_type = GrowingSlots


class GarbageStorage(SlotStorage):
    """Slots that hold large numbers before they are filled."""

    def new(self) -> SlotCache:
        """Slots full of garbage."""
        cache, rng = super().new(), np.random.default_rng(0)
        for layer in cache.layers:
            layer.key[:] = rng.normal(0, 1e4, layer.key.shape)  # (G, M, D)
            layer.value[:] = rng.normal(0, 1e4, layer.value.shape)  # (G, M, D)
        return cache


class SlotDecoder(InPlaceDecoder[Any]):
    """The border over slots, of the kind that a subclass names."""

    kind: type[StaticStorage] = SlotStorage

    def __init__(self, config: Config, *, seed: int) -> None:
        super().__init__(config, self.kind, seed=seed)


class LazyDecoder(SlotDecoder):
    """Forks share until one writes."""

    kind = LazyStorage


class GrowingDecoder(SlotDecoder):
    """Grows when needed."""

    kind = GrowingStorage


class GarbageDecoder(SlotDecoder):
    """Begins with garbage."""

    kind = GarbageStorage


class ResetsToNew(SlotDecoder):
    """Resets by handing out another cache; the old one stays as it is."""

    def reset(self, cache: StaticCache) -> Any:  # noqa: ARG002
        """A new cache."""
        return self.new_cache()


class PoisonsReleased(SlotDecoder):
    """Overwrites what is released, so that any later use of it would show."""

    def release(self, cache: StaticCache) -> None:
        """NaN in every slot."""
        for layer in cache.layers:
            layer.key[:] = layer.value[:] = np.nan  # (G, M, D)


_SLOTS = {"max_length": 32}

SLOTS = (
    Control(
        "copy-on-write",
        "After a fork both caches are the same arrays.",
        "The first of the two to write copies them.",
        factory_of(LazyDecoder, **_SLOTS),
    ),
    Control(
        "grows-by-doubling",
        "Attention runs over slots that no token has filled.",
        "Their positions are beyond every row's, so that the mask hides them.",
        factory_of(GrowingDecoder, positions="rotary", max_length=None),
    ),
    Control(
        "garbage-in-slots",
        "A new cache is full of large random numbers.",
        "They are behind the mask until a token overwrites them.",
        factory_of(GarbageDecoder, **_SLOTS),
    ),
    Control(
        "reset-hands-out-another",
        "After a reset the old cache still holds its tokens.",
        "The cache to go on with is the one that is returned, and it is new.",
        factory_of(ResetsToNew, **_SLOTS),
    ),
    Control(
        "release-poisons",
        "Releasing a cache fills it with NaN.",
        "Nobody may use a cache after its release, and no other cache shares the arrays.",
        factory_of(PoisonsReleased, **_SLOTS),
    ),
)
