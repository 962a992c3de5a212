"""Keys and values in 8 bits, symmetric: codes -127 ... 127 and one scale a token, head and array.

A scale depends on its own token alone, and a chunk attends to its own tokens in quantised form too,
so that rows do not depend on how tokens were cut into calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cachecheck.reference.cache import LayeredCache, LayerState, check_follows, is_retained
from cachecheck.reference.caches.error_bound import LARGEST_CODE, row_error_bound
from cachecheck.reference.caches.random_configs import small_config
from cachecheck.reference.config import Config, Precision
from cachecheck.reference.positions import Ints
from cachecheck.reference.stored import StoredDecoder
from cachecheck.reference.weights import Floats, Weights

Bytes = NDArray[np.int8]


def quantise(array: Floats) -> tuple[Bytes, Floats]:
    """(G, T, D) -> codes (G, T, D) and scales (G, T); the largest entry of a token gets +-127."""
    scale = np.abs(array).max(axis=-1) / LARGEST_CODE  # (G, T)
    scale = np.where(scale > 0, scale, scale.dtype.type(1))  # a token of zeros has codes of zero
    codes = np.rint(array / scale[..., None])  # (G, T, D)
    codes = np.clip(codes, -LARGEST_CODE, LARGEST_CODE)  # the scale of subnormals is coarse
    return codes.astype(np.int8), scale


@dataclass(frozen=True, eq=False)
class QuantisedLayer:
    """The keys and values of one layer, in codes and scales."""

    key_codes: Bytes  # (G, R, D)
    key_scale: Floats  # (G, R)
    value_codes: Bytes  # (G, R, D)
    value_scale: Floats  # (G, R)
    positions: Ints  # (R,)
    length: int

    def __post_init__(self) -> None:
        for array in self.state().values():
            array.flags.writeable = False

    @property
    def key(self) -> Floats:
        """(G, R, D), what the codes stand for."""
        return self.key_codes * self.key_scale[..., None]

    @property
    def value(self) -> Floats:
        """(G, R, D), what the codes stand for."""
        return self.value_codes * self.value_scale[..., None]

    def append(self, key: Floats, value: Floats, positions: Ints) -> QuantisedLayer:
        """This layer with T new positions behind, quantised at once."""
        new = check_follows(key, value, positions, self.length)
        chunk = QuantisedLayer(*quantise(key), *quantise(value), new, len(new))
        return QuantisedLayer(
            np.concatenate([self.key_codes, chunk.key_codes], axis=1),  # (G, R+T, D)
            np.concatenate([self.key_scale, chunk.key_scale], axis=1),  # (G, R+T)
            np.concatenate([self.value_codes, chunk.value_codes], axis=1),  # (G, R+T, D)
            np.concatenate([self.value_scale, chunk.value_scale], axis=1),  # (G, R+T)
            np.concatenate([self.positions, new]),  # (R+T,)
            self.length + len(new),
        )

    def evict(self, window: int | None, sinks: int) -> QuantisedLayer:
        """This layer without what no later row can see."""
        if window is None:
            return self
        return self._select(is_retained(self.positions, self.length, window, sinks), self.length)

    def crop(self, length: int) -> QuantisedLayer:
        """This layer without the positions from ``length`` on."""
        return self._select(self.positions < length, length)

    def state(self) -> dict[str, NDArray[Any]]:
        """Codes, scales and positions by name."""
        names = ("key_codes", "key_scale", "value_codes", "value_scale", "positions")
        return {name: getattr(self, name) for name in names}

    def _select(self, keep: NDArray[np.bool_], length: int) -> QuantisedLayer:
        return QuantisedLayer(
            self.key_codes[:, keep],
            self.key_scale[:, keep],
            self.value_codes[:, keep],
            self.value_scale[:, keep],
            self.positions[keep],
            length,
        )


class QuantisedCache(LayeredCache[QuantisedLayer]):
    """Codes and scales of each layer."""


class QuantisedStorage:
    """The storage: immutable arrays of codes and scales."""

    cache_type = QuantisedCache
    evicts = True

    def __init__(self, weights: Weights) -> None:
        self.weights = weights

    def new(self) -> QuantisedCache:
        """Empty layers."""
        config = self.weights.config
        heads, width = config.key_value_heads, config.head_width

        def empty() -> QuantisedLayer:
            codes = np.empty((heads, 0, width), np.int8)
            scale = np.empty((heads, 0), config.numpy_dtype)
            positions = np.empty(0, np.int64)
            return QuantisedLayer(codes, scale, codes.copy(), scale.copy(), positions, 0)

        layers = tuple(empty() for _ in range(config.layers))
        return QuantisedCache(layers, 0, 0, self.weights.fingerprint)

    def restore(self, layers: Sequence[LayerState], length: int, last_chunk: int) -> QuantisedCache:
        """The saved arrays as they are."""
        restored = tuple(QuantisedLayer(**one, length=length) for one in layers)
        return QuantisedCache(restored, length, last_chunk, self.weights.fingerprint)


class QuantisedDecoder(StoredDecoder[QuantisedCache]):
    """The border over 8-bit caches; ``atol`` bounds their error."""

    def __init__(self, config: Config, *, seed: int = 0) -> None:
        super().__init__(config, QuantisedStorage, seed=seed)
        self.atol = row_error_bound(self.weights)


def quantised(seed: int, dtype: Precision = "float64") -> QuantisedDecoder:
    """8-bit caches of one layer and at most 48 tokens, over which `row_error_bound` is taken.

    Heads, groups, positions and window follow the seed; what the bound does not cover is left out.
    """
    plain: dict[str, Any] = {"layers": 1, "normalise": False, "mlp_width": 0, "output": "hidden"}
    config = small_config(seed, dtype, max_length=48, **plain)
    return QuantisedDecoder(config, seed=seed)
