"""Append-only storage that branches share: a cache is a length of a common, growing buffer.

Appending at the buffer's tip writes beyond everybody's visible part, at an amortised constant cost
a token. A branch whose tip was taken by a sibling copies its own part to a new buffer first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cachecheck.reference.cache import LayeredCache, LayerState, check_follows
from cachecheck.reference.caches.random_configs import small_config
from cachecheck.reference.config import Precision
from cachecheck.reference.positions import Ints
from cachecheck.reference.stored import StoredDecoder
from cachecheck.reference.weights import Floats, Weights


@dataclass
class Copies:
    """A count of the positions of one layer that were copied from one buffer to another."""

    positions: int = 0


class GrowingBuffer:
    """Keys and values of one layer, written once a slot; ``used`` slots are taken."""

    def __init__(self, key: Floats, value: Floats, copies: Copies) -> None:
        self.key = key  # (G, capacity, D)
        self.value = value  # (G, capacity, D)
        self.used = 0
        self.copies = copies

    def write(self, key: Floats, value: Floats) -> None:
        """Add (G, T, D) keys and values at the tip, in twice the room where there is too little."""
        stop = self.used + key.shape[1]
        if stop > self.key.shape[1]:
            capacity = max(stop, 2 * self.key.shape[1])
            # Views of the old arrays stay right: nothing below `used` is ever written again.
            self.key = self._grown(self.key, capacity)
            self.value = self._grown(self.value, capacity)
            self.copies.positions += self.used
        self.key[:, self.used : stop] = key
        self.value[:, self.used : stop] = value
        self.used = stop

    def _grown(self, array: Floats, capacity: int) -> Floats:
        grown = np.empty((array.shape[0], capacity, array.shape[2]), array.dtype)
        grown[:, : self.used] = array[:, : self.used]
        return grown

    def branch(self, length: int) -> GrowingBuffer:
        """A buffer of its own for the first ``length`` slots."""
        other = GrowingBuffer(np.empty_like(self.key), np.empty_like(self.value), self.copies)
        other.write(self.key[:, :length], self.value[:, :length])
        self.copies.positions += length
        return other


@dataclass(frozen=True, eq=False)
class SharedLayer:
    """The first ``length`` slots of a buffer; slot and position are the same."""

    buffer: GrowingBuffer
    length: int

    @property
    def key(self) -> Floats:
        """(G, S, D), read-only."""
        return _visible(self.buffer.key, self.length)

    @property
    def value(self) -> Floats:
        """(G, S, D), read-only."""
        return _visible(self.buffer.value, self.length)

    @property
    def positions(self) -> Ints:
        """(S,)."""
        return np.arange(self.length)

    def append(self, key: Floats, value: Floats, positions: Ints) -> SharedLayer:
        """T positions more; on the same buffer if its tip is ours.

        A call that fails later leaves a tip that nobody sees; the next append then branches.
        """
        new = check_follows(key, value, positions, self.length)
        buffer = self.buffer
        if buffer.used != self.length:
            buffer = buffer.branch(self.length)
        buffer.write(key, value)
        return SharedLayer(buffer, self.length + len(new))

    def evict(self, window: int | None, sinks: int) -> SharedLayer:  # noqa: ARG002
        """This layer: a window is left to the mask, for siblings may still see all of it."""
        return self

    def crop(self, length: int) -> SharedLayer:
        """Fewer slots of the same buffer."""
        return SharedLayer(self.buffer, length)

    def state(self) -> LayerState:
        """The visible part."""
        return {"key": self.key, "value": self.value, "positions": self.positions}


def _visible(array: Floats, length: int) -> Floats:
    view = array[:, :length]  # (G, S, D)
    view.flags.writeable = False
    return view


class SharedCache(LayeredCache[SharedLayer]):
    """A view of each layer's buffer."""


class SharedStorage:
    """The storage: empty buffers, and the count of what was copied between buffers."""

    cache_type = SharedCache
    buffer_type = GrowingBuffer
    evicts = False

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.copies = Copies()

    def new(self) -> SharedCache:
        """A view of no slots, on buffers of its own."""
        config = self.weights.config
        dtype = config.numpy_dtype
        shape = (config.key_value_heads, 4, config.head_width)  # room for 4 tokens to start with
        layers = tuple(
            SharedLayer(
                self.buffer_type(np.empty(shape, dtype), np.empty(shape, dtype), self.copies), 0
            )
            for _ in range(config.layers)
        )
        return SharedCache(layers, 0, 0, self.weights.fingerprint)

    def restore(self, layers: Sequence[LayerState], length: int, last_chunk: int) -> SharedCache:
        """Fresh buffers with the saved arrays."""
        restored = tuple(
            empty.append(one["key"], one["value"], one["positions"])
            for empty, one in zip(self.new().layers, layers, strict=True)
        )
        return SharedCache(restored, length, last_chunk, self.weights.fingerprint)


class SharedDecoder(StoredDecoder[SharedCache]):
    """The border over shared buffers, with their count of copies."""

    storage: SharedStorage

    def copied(self) -> int:
        """Positions copied between buffers so far, over all layers."""
        return self.storage.copies.positions


def shared(seed: int, dtype: Precision = "float64") -> SharedDecoder:
    """Shared append-only buffers; a window is a mask alone, since nothing is evicted from them."""
    return SharedDecoder(small_config(seed, dtype), SharedStorage, seed=seed)
