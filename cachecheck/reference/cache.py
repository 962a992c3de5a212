"""The cache: keys, values and positions per layer, as values that are never changed.

`append` and `evict` return new caches; the arrays of one are read-only, so that a stray write
raises instead of reaching another branch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cachecheck.errors import InputError
from cachecheck.reference.checks import check_consecutive
from cachecheck.reference.positions import Ints
from cachecheck.reference.weights import Floats, Weights


@dataclass(frozen=True, eq=False)
class LayerCache:
    """What one layer keeps: R retained positions, R = S without a window."""

    key: Floats  # (G, R, D), rotated when positions are rotary
    value: Floats  # (G, R, D)
    positions: Ints  # (R,) absolute, increasing

    def __post_init__(self) -> None:
        for array in (self.key, self.value, self.positions):
            array.flags.writeable = False

    def append(self, key: Floats, value: Floats, positions: Ints) -> LayerCache:
        """This layer with T new positions behind; the new ones must follow on.

        Raises:
            InputError: positions with a gap, or not one key and value for each.
        """
        new = check_consecutive(positions, "new positions")
        if self.positions.size and new[0] != self.positions[-1] + 1:
            raise InputError(
                f"new positions must go on at {self.positions[-1] + 1}, the cache's next; "
                f"got {new[0]}"
            )
        if key.shape != value.shape or key.shape[1] != len(new):
            raise InputError(
                f"{len(new)} positions need as many keys and values; "
                f"got shapes {key.shape} and {value.shape}"
            )
        return LayerCache(
            np.concatenate([self.key, key], axis=1),  # (G, R+T, D)
            np.concatenate([self.value, value], axis=1),  # (G, R+T, D)
            np.concatenate([self.positions, new]),  # (R+T,)
        )

    def evict(self, window: int | None, sinks: int) -> LayerCache:
        """This layer without what no later row can see: the last ``window`` and sinks stay.

        Keeps W positions although the next row sees W-1 of them, as the published experiment
        does; its payload figure counts W.
        """
        if window is None:
            return self
        last = self.positions[-1]
        keep = (self.positions > last - window) | (self.positions < sinks)  # (R,)
        return LayerCache(self.key[:, keep], self.value[:, keep], self.positions[keep])

    @property
    def payload(self) -> int:
        """Bytes of the retained key and value arrays alone."""
        return self.key.nbytes + self.value.nbytes


@dataclass(frozen=True, eq=False)
class Cache:
    """A decoder's memory of the tokens so far.

    Attributes:
        layers: one `LayerCache` a layer.
        length: S, tokens seen, evicted ones included.
        last_chunk: length of the latest call; only a wrong mask looks at it.
        fingerprint: of the weights that made it; other weights refuse it.
    """

    layers: tuple[LayerCache, ...]
    length: int
    last_chunk: int
    fingerprint: str

    @property
    def payload(self) -> int:
        """Bytes of all retained key and value arrays."""
        return sum(layer.payload for layer in self.layers)

    def state(self) -> list[Mapping[str, NDArray[Any]]]:
        """Per layer, the named arrays (the border's ``state``)."""
        return [
            {"key": one.key, "value": one.value, "positions": one.positions} for one in self.layers
        ]


def new_cache(weights: Weights) -> Cache:
    """The cache of no tokens at all."""
    config = weights.config
    empty = np.empty((config.key_value_heads, 0, config.head_width), config.numpy_dtype)
    positions = np.empty(0, np.int64)
    layers = tuple(
        LayerCache(empty.copy(), empty.copy(), positions.copy()) for _ in range(config.layers)
    )
    return Cache(layers, 0, 0, weights.fingerprint)


def check_cache(cache: Any, weights: Weights) -> Cache:
    """``cache`` if these weights made it and it is whole.

    Raises:
        InputError: not a cache, made by other weights, or layers that disagree on the length.
    """
    if not isinstance(cache, Cache):
        raise InputError(f"expected a reference Cache; got {type(cache).__name__}")
    if cache.fingerprint != weights.fingerprint:
        raise InputError("this cache was filled by another decoder; its rows would be wrong")
    if len(cache.layers) != weights.config.layers:
        raise InputError(f"expected {weights.config.layers} cached layers; got {len(cache.layers)}")
    for number, layer in enumerate(cache.layers):
        seen = int(layer.positions[-1]) + 1 if layer.positions.size else 0
        if seen != cache.length or layer.key.shape[1] != len(layer.positions):
            raise InputError(
                f"layer {number} of the cache holds {seen} tokens, the cache {cache.length}"
            )
    return cache
