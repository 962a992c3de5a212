"""Preallocated buffers of ``max_length`` slots a layer, written in place.

Attention always runs over the whole buffer; slots that are not filled are hidden by their position,
which is beyond every row's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from cachecheck.errors import InputError
from cachecheck.reference.cache import LayerState, check_follows
from cachecheck.reference.caches.random_configs import config_rng, small_config
from cachecheck.reference.config import Config, Precision
from cachecheck.reference.positions import Ints
from cachecheck.reference.stored import InPlaceDecoder
from cachecheck.reference.weights import Floats, Weights


@dataclass(eq=False)
class StaticLayer:
    """One layer's slots; slot and position are the same."""

    key: Floats  # (G, M, D), M = max_length
    value: Floats  # (G, M, D)
    length: int = 0

    @property
    def positions(self) -> Ints:
        """(M,), those of slots that are not filled included."""
        return np.arange(self.key.shape[1])

    def append(self, key: Floats, value: Floats, positions: Ints) -> StaticLayer:
        """This layer, the chunk written behind ``length``: invisible until the cache keeps it.

        Raises:
            InputError: more tokens than slots.
        """
        new = check_follows(key, value, positions, self.length)
        if new[-1] >= self.key.shape[1]:
            raise InputError(f"{new[-1] + 1} tokens exceed max_length {self.key.shape[1]}")
        self.key[:, new] = key
        self.value[:, new] = value
        return self

    def state(self) -> LayerState:
        """Copies of the filled slots."""
        filled = slice(0, self.length)
        return {
            "key": self.key[:, filled].copy(),  # (G, S, D)
            "value": self.value[:, filled].copy(),  # (G, S, D)
            "positions": self.positions[filled],  # (S,)
        }


@dataclass(eq=False)
class StaticCache:
    """All layers' buffers; one length for all of them."""

    layers: tuple[StaticLayer, ...]
    fingerprint: str
    length: int = 0
    last_chunk: int = 0

    def commit(self, appended: Sequence[StaticLayer], new: int, config: Config) -> Self:  # noqa: ARG002
        """Count what `StaticLayer.append` wrote."""
        self._set(self.length + new, new)
        return self

    def crop(self, length: int) -> Self:
        """Fewer filled slots; what the others hold is overwritten before anybody sees it."""
        self._set(length, min(self.last_chunk, length))
        return self

    def clear(self) -> None:
        """No slot is filled."""
        self._set(0, 0)

    def fork(self) -> StaticCache:
        """Buffers of its own with the same content."""
        layers = tuple(
            StaticLayer(one.key.copy(), one.value.copy(), one.length) for one in self.layers
        )
        return StaticCache(layers, self.fingerprint, self.length, self.last_chunk)

    def state(self) -> list[LayerState]:
        """Per layer, the filled slots."""
        return [one.state() for one in self.layers]

    def _set(self, length: int, last_chunk: int) -> None:
        self.length, self.last_chunk = length, last_chunk
        for one in self.layers:
            one.length = length


class StaticStorage:
    """The storage: zeroed buffers."""

    cache_type = StaticCache
    evicts = False

    def __init__(self, weights: Weights) -> None:
        self.weights = weights

    def new(self) -> StaticCache:
        """Buffers of ``max_length`` slots."""
        config = self.weights.config
        shape = (config.key_value_heads, config.max_length or 0, config.head_width)
        dtype = config.numpy_dtype
        layers = tuple(
            StaticLayer(np.zeros(shape, dtype), np.zeros(shape, dtype))
            for _ in range(config.layers)
        )
        return StaticCache(layers, self.weights.fingerprint)

    def restore(self, layers: Sequence[LayerState], length: int, last_chunk: int) -> StaticCache:
        """Fresh buffers with the saved arrays."""
        cache = self.new()
        for empty, one in zip(cache.layers, layers, strict=True):
            empty.append(one["key"], one["value"], one["positions"])
            empty.length = length
        cache.length, cache.last_chunk = length, last_chunk
        return cache


def static(seed: int, dtype: Precision = "float64") -> InPlaceDecoder[StaticCache]:
    """Buffers of 24 to 40 slots; a window is a mask alone, since nothing is evicted from them."""
    slots = 32 if seed == 0 else int(config_rng(seed).integers(24, 41))
    config = small_config(seed, dtype, max_length=slots)
    return InPlaceDecoder(config, StaticStorage, seed=seed)
