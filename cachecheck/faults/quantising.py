"""Quantised caches whose codes and scales come apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from cachecheck.faults.fault import Fault
from cachecheck.faults.scales import quantised_factory
from cachecheck.reference.cache import LayerState
from cachecheck.reference.caches.quantised import (
    QuantisedCache,
    QuantisedLayer,
    QuantisedStorage,
    quantised,
)
from cachecheck.reference.positions import Ints
from cachecheck.reference.weights import Floats


class BrokenLayer(QuantisedLayer):
    """A layer whose methods return its own type; subclasses make the mistakes."""

    def append(self, key: Floats, value: Floats, positions: Ints) -> QuantisedLayer:
        """As the right one."""
        return self._same(super().append(key, value, positions))

    def evict(self, window: int | None, sinks: int) -> QuantisedLayer:
        """As the right one."""
        return self._same(QuantisedLayer(**self.state(), length=self.length).evict(window, sinks))

    def crop(self, length: int) -> QuantisedLayer:
        """As the right one."""
        return self._same(QuantisedLayer(**self.state(), length=self.length).crop(length))

    def _same(self, layer: QuantisedLayer, **changes: Any) -> QuantisedLayer:
        return type(self)(**(vars(layer) | changes))


class FirstScale(BrokenLayer):
    """Takes its scales from the first chunk, once for all."""

    def append(self, key: Floats, value: Floats, positions: Ints) -> QuantisedLayer:
        """Larger entries of later tokens run over the range of a code, and turn their sign."""
        after, new = super().append(key, value, positions), len(positions)
        changes: dict[str, Any] = {}
        for name, chunk in (("key", key), ("value", value)):
            scale = getattr(after, f"{name}_scale").copy()  # (G, R+T)
            first = scale.max(axis=1) if not self.positions.size else scale[:, -new - 1]  # (G,)
            scale[:, -new:] = first[:, None]
            codes = getattr(after, f"{name}_codes").copy()  # (G, R+T, D)
            fitted = np.rint(chunk / first[:, None, None]).astype(np.int64)  # (G, T, D)
            codes[:, -new:] = (fitted + 128) % 256 - 128
            changes |= {f"{name}_scale": scale, f"{name}_codes": codes}
        return self._same(after, **changes)


class MixesScales(BrokenLayer):
    """Cuts the scales of the keys twice in a rollback."""

    def crop(self, length: int) -> QuantisedLayer:
        """Values with the scales of keys."""
        after = super().crop(length)
        return self._same(after, value_scale=after.key_scale)


class UncutArrays(BrokenLayer):
    """Does not cut some of its arrays in a rollback: what is added then stands behind the rest."""

    uncut: ClassVar[tuple[str, ...]] = ()

    @property
    def key(self) -> Floats:
        """(G, R, D), from the first R codes and scales."""
        return QuantisedLayer(**self.state(), length=self.length).key

    @property
    def value(self) -> Floats:
        """(G, R, D), from the first R codes and scales."""
        return QuantisedLayer(**self.state(), length=self.length).value

    def crop(self, length: int) -> QuantisedLayer:
        """Some arrays keep what is taken back, and new tokens get that in place of their own."""
        return self._same(
            super().crop(length), **{name: getattr(self, name) for name in self.uncut}
        )

    def state(self) -> dict[str, Any]:
        """Of each array as much as there are positions."""
        count = len(self.positions)
        arrays = super().state()
        positions = arrays.pop("positions")
        return {name: array[:, :count] for name, array in arrays.items()} | {"positions": positions}


class ScalesStay(UncutArrays):
    """Cuts codes and no scales."""

    uncut = ("key_scale", "value_scale")


class ArraysStay(UncutArrays):
    """Moves the length alone."""

    uncut = ("key_codes", "key_scale", "value_codes", "value_scale")


class StorageOfLayers(QuantisedStorage):
    """Makes layers of another type."""

    layer_type: type[QuantisedLayer] = QuantisedLayer

    def new(self) -> QuantisedCache:
        """Empty layers of it."""
        return self._typed(super().new())

    def restore(self, layers: Sequence[LayerState], length: int, last_chunk: int) -> QuantisedCache:
        """The saved arrays in layers of it."""
        return self._typed(super().restore(layers, length, last_chunk))

    def _typed(self, cache: QuantisedCache) -> QuantisedCache:
        layers = tuple(self.layer_type(**vars(one)) for one in cache.layers)
        return QuantisedCache(layers, cache.length, cache.last_chunk, cache.fingerprint)


def _layers(layer: type[QuantisedLayer]) -> type[QuantisedStorage]:
    return type(f"Of{layer.__name__}", (StorageOfLayers,), {"layer_type": layer})


QUANTISING = (
    Fault(
        id="quantised-scale-of-first-chunk",
        host="quantised",
        kind="quant-scale-lost",
        mechanism="quantisation",
        symptom="The scales of the first chunk are used for all later ones, whose codes overflow.",
        law="schedule",
        reports=("flashinfer-ai/flashinfer#1023",),
        make=quantised_factory(_layers(FirstScale)),
        right=quantised,
        smallest="1+1",
    ),
    Fault(
        id="quantised-crop-mixes-scales",
        host="quantised",
        kind="quant-scale-lost",
        mechanism="crop",
        symptom="After a rollback values are read with the scales of their keys.",
        law="crop",
        reports=("flashinfer-ai/flashinfer#4979",),
        make=quantised_factory(_layers(MixesScales)),
        right=quantised,
        smallest="1 crop1 1",
    ),
    Fault(
        id="quantised-crop-leaves-scales",
        host="quantised",
        kind="quant-cache-metadata",
        mechanism="crop",
        symptom="After a rollback new codes are read with the scales of the rejected ones.",
        law="crop",
        reports=("ml-explore/mlx-lm#1323",),
        make=quantised_factory(_layers(ScalesStay)),
        right=quantised,
        smallest="2 crop1 3",
    ),
    Fault(
        id="quantised-crop-moves-length-alone",
        host="quantised",
        kind="quant-cache-metadata",
        mechanism="crop",
        symptom="A rollback moves the length of a quantised cache and leaves its arrays, so that "
        "rejected tokens are read in place of new ones.",
        law="crop",
        reports=("waybarrios/vllm-mlx#69",),
        make=quantised_factory(_layers(ArraysStay)),
        right=quantised,
        smallest="2 crop1 1",
    ),
)
