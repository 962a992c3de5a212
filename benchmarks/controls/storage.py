"""Immutable arrays: shared by two caches, forked by doing nothing, or wider than the rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from benchmarks.controls.cache_class import CacheOfClass
from benchmarks.controls.control import Control, factory_of, float32_factory_of
from cachecheck.reference import Cache, Config, LayerCache, Mechanisms, ReferenceDecoder
from cachecheck.reference.mechanisms import CachedCall, VisibleKeys
from cachecheck.reference.stored import StoredDecoder
from cachecheck.reference.weights import Floats


class ViewCache(Cache):
    """Rolled back by slicing: the result is a view of the old arrays."""

    def crop(self, length: int) -> Self:
        """Views of the first ``length`` tokens."""
        layers = tuple(_view(one, length) for one in self.layers)
        return type(self)(layers, length, min(self.last_chunk, length), self.fingerprint)


def _view(layer: LayerCache, length: int) -> LayerCache:
    stop = int(np.searchsorted(layer.positions, length))
    return LayerCache(
        layer.key[:, :stop], layer.value[:, :stop], layer.positions[:stop], length=length
    )


class ViewStorage(CacheOfClass):
    """The storage of views."""

    cache_type = ViewCache


class ViewDecoder(StoredDecoder[Any]):
    """The border over views."""

    def __init__(self, config: Config, *, seed: int) -> None:
        super().__init__(config, ViewStorage, seed=seed)


class DeclaresMutation(ReferenceDecoder):
    """Says that it changes caches in place, never does, and so forks by doing nothing."""

    mutates_cache = True

    def fork(self, cache: Cache) -> Cache:
        """The cache itself."""
        return cache


class WideWhenStored(Mechanisms):
    """float64 in the cache, float32 in the arithmetic."""

    def stored(
        self,
        call: CachedCall,  # noqa: ARG002
        layer: int,  # noqa: ARG002
        key: Floats,
        value: Floats,
    ) -> tuple[Floats, Floats]:
        """(G, T, D) in float64."""
        return key.astype(np.float64), value.astype(np.float64)

    def visible_keys(self, call: CachedCall, layer: int, keys: VisibleKeys) -> VisibleKeys:  # noqa: ARG002
        """(G, R+T, D) in float32."""
        return LayerCache(
            keys.key.astype(np.float32), keys.value.astype(np.float32), keys.positions
        )


class WideStorage(CacheOfClass):
    """Empty layers of float64."""

    def new(self) -> Cache:
        """Empty layers."""
        plain = super().new()
        layers = tuple(
            LayerCache(one.key.astype(np.float64), one.value.astype(np.float64), one.positions)
            for one in plain.layers
        )
        return Cache(layers, plain.length, plain.last_chunk, plain.fingerprint)


class WideDecoder(StoredDecoder[Any]):
    """The border over float64 caches of a float32 decoder."""

    def __init__(self, config: Config, *, seed: int) -> None:
        super().__init__(config, WideStorage, seed=seed, mechanisms=WideWhenStored())


STORAGE = (
    Control(
        "rollback-by-view",
        "A cache rolled back shares its memory with the one before.",
        "Nobody writes into either: appending copies.",
        factory_of(ViewDecoder),
    ),
    Control(
        "fork-is-itself",
        "A decoder that changes caches in place forks by returning the same cache.",
        "It declares more than it does: no call ever changes a cache.",
        factory_of(DeclaresMutation),
    ),
    Control(
        "wide-cache",
        "The cache holds float64 arrays while the rows are float32.",
        "Every float32 is a float64 exactly, and is one again when it is read.",
        float32_factory_of(WideDecoder),
        fixed_dtype="float32",
    ),
)
