"""A ring of ``window`` slots a layer behind ``sinks`` slots that are kept for ever, in place.

A chunk, also one longer than the window, attends over what the ring holds and itself, and is then
written: position p goes to slot p if it is a sink, else to slot sinks + (p - sinks) mod window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from cachecheck.reference.cache import LayerCache, LayerState
from cachecheck.reference.caches.random_configs import small_config, small_window
from cachecheck.reference.config import Config, Precision
from cachecheck.reference.positions import Ints
from cachecheck.reference.stored import InPlaceDecoder
from cachecheck.reference.weights import Floats, Weights

EMPTY = -1  # the position of a slot that holds nothing


@dataclass(eq=False)
class RingLayer:
    """The slots of one layer; N = sinks + window."""

    key: Floats  # (G, N, D)
    value: Floats  # (G, N, D)
    slot_positions: Ints  # (N,) the position in each slot, or EMPTY
    sinks: int
    length: int = 0

    def ordered(self) -> LayerCache:
        """Copies of the filled slots, by position."""
        order = np.argsort(self.slot_positions)  # (N,), empty slots first
        order = order[self.slot_positions[order] != EMPTY]  # (R,)
        return LayerCache(
            self.key[:, order], self.value[:, order], self.slot_positions[order], length=self.length
        )

    def append(self, key: Floats, value: Floats, positions: Ints) -> LayerCache:
        """The ring's content and the chunk together; nothing is written yet."""
        return self.ordered().append(key, value, positions)

    def write(self, key: Floats, value: Floats, positions: Ints) -> None:
        """(G, T, D) keys and values into their slots: the sinks and the last ``window`` of them."""
        window = len(self.slot_positions) - self.sinks
        at = (positions < self.sinks) | (positions > positions[-1] - window)  # (T,)
        written = positions[at]
        slots = np.where(
            written < self.sinks, written, self.sinks + (written - self.sinks) % window
        )
        self.key[:, slots] = key[:, at]
        self.value[:, slots] = value[:, at]
        self.slot_positions[slots] = written

    def crop(self, length: int) -> None:
        """Empty the slots of positions from ``length`` on."""
        self.slot_positions[self.slot_positions >= length] = EMPTY
        self.length = length

    def fork(self) -> RingLayer:
        """Slots of its own with the same content."""
        return type(self)(
            self.key.copy(), self.value.copy(), self.slot_positions.copy(), self.sinks, self.length
        )


@dataclass(eq=False)
class RingCache:
    """One ring a layer."""

    layers: tuple[RingLayer, ...]
    fingerprint: str
    length: int = 0
    last_chunk: int = 0

    def commit(self, appended: Sequence[LayerCache], new: int, config: Config) -> Self:  # noqa: ARG002
        """Write the chunk, the last ``new`` positions of ``appended``, into the rings."""
        self.length, self.last_chunk = self.length + new, new
        for layer, one in zip(self.layers, appended, strict=True):
            layer.write(one.key[:, -new:], one.value[:, -new:], one.positions[-new:])
            layer.length = self.length
        return self

    def crop(self, length: int) -> Self:
        """Drop the positions from ``length`` on."""
        self.length, self.last_chunk = length, min(self.last_chunk, length)
        for layer in self.layers:
            layer.crop(length)
        return self

    def clear(self) -> None:
        """Empty rings."""
        self.crop(0)

    def fork(self) -> RingCache:
        """Rings of its own with the same content."""
        layers = tuple(one.fork() for one in self.layers)
        return RingCache(layers, self.fingerprint, self.length, self.last_chunk)

    def state(self) -> list[LayerState]:
        """Per layer, the filled slots by position."""
        return [one.ordered().state() for one in self.layers]


class RingStorage:
    """The storage: empty rings."""

    cache_type = RingCache
    layer_type = RingLayer
    evicts = True

    def __init__(self, weights: Weights) -> None:
        self.weights = weights

    def new(self) -> RingCache:
        """Rings of ``window`` slots and the sinks."""
        config = self.weights.config
        assert config.window is not None  # noqa: S101 - the factories set one
        slots = config.sinks + config.window
        shape = (config.key_value_heads, slots, config.head_width)
        dtype = config.numpy_dtype

        def empty() -> RingLayer:
            key, value = np.zeros(shape, dtype), np.zeros(shape, dtype)
            return self.layer_type(key, value, np.full(slots, EMPTY), config.sinks)

        layers = tuple(empty() for _ in range(config.layers))
        return RingCache(layers, self.weights.fingerprint)

    def restore(self, layers: Sequence[LayerState], length: int, last_chunk: int) -> RingCache:
        """Rings with the saved positions in their slots."""
        cache = self.new()
        cache.length, cache.last_chunk = length, last_chunk
        for layer, one in zip(cache.layers, layers, strict=True):
            layer.length = length
            if one["positions"].size:  # none with a window of 1 after a crop
                layer.write(one["key"], one["value"], one["positions"])
        return cache


def ring(seed: int, dtype: Precision = "float64") -> InPlaceDecoder[RingCache]:
    """Rings of 2 to 6 slots without sinks."""
    config = small_config(seed, dtype, window=small_window(seed), sinks=0)
    return InPlaceDecoder(config, RingStorage, seed=seed)
