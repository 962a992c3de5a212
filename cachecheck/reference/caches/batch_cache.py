"""The cache of a batch: rows of different length side by side, with pad columns between.

A column is a place in the arrays, not a position: where a row has a pad, its position is PAD. All
functions return new values and leave the ones they were given alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cachecheck.errors import InputError
from cachecheck.reference.checks import as_integers
from cachecheck.reference.config import Config
from cachecheck.reference.positions import Ints
from cachecheck.reference.weights import Floats, Weights

PAD = -1  # the position of what is no token


@dataclass(frozen=True, eq=False)
class BatchCache:
    """A decoder's memory of B sequences, R columns each."""

    keys: tuple[Floats, ...]  # per layer (B, G, R, D), rotated when positions are rotary
    values: tuple[Floats, ...]  # per layer (B, G, R, D)
    positions: Ints  # (B, R) absolute positions of each row's own tokens, PAD elsewhere
    lengths: Ints  # (B,) tokens of each row so far, evicted ones included
    fingerprint: str  # of the weights that made it; other weights refuse it

    def __post_init__(self) -> None:
        for array in (*self.keys, *self.values, self.positions, self.lengths):
            array.flags.writeable = False

    def state(self) -> list[Mapping[str, NDArray[Any]]]:
        """Per layer, the named arrays (the border's ``state``)."""
        return [
            {"key": key, "value": value, "positions": self.positions}
            for key, value in zip(self.keys, self.values, strict=True)
        ]


def new_batch_cache(weights: Weights, rows: int) -> BatchCache:
    """The cache of ``rows`` sequences without any token.

    Raises:
        InputError: ``rows`` is not an integer >= 1.
    """
    if isinstance(rows, bool) or not isinstance(rows, int | np.integer) or rows < 1:
        raise InputError(f"a batch has at least one row; got {rows!r}")
    config = weights.config
    shape = (int(rows), config.key_value_heads, 0, config.head_width)  # (B, G, R, D)
    layers = range(config.layers)
    return BatchCache(
        keys=tuple(np.empty(shape, config.numpy_dtype) for _ in layers),
        values=tuple(np.empty(shape, config.numpy_dtype) for _ in layers),
        positions=np.empty((int(rows), 0), np.int64),
        lengths=np.zeros(int(rows), np.int64),
        fingerprint=weights.fingerprint,
    )


def check_batch_cache(cache: Any, fingerprint: str) -> BatchCache:
    """``cache`` if the weights of ``fingerprint`` made it.

    Raises:
        InputError: not a batch cache, or made by other weights.
    """
    if not isinstance(cache, BatchCache):
        raise InputError(f"expected a BatchCache; got {type(cache).__name__}")
    if cache.fingerprint != fingerprint:
        raise InputError("this cache was filled by another decoder; its rows would be wrong")
    return cache


def evict_columns(cache: BatchCache, config: Config) -> BatchCache:
    """``cache`` without the columns that no later row of the batch can see.

    Those are the columns of pads alone and, with a window, of tokens that have left it; a column
    that one row needs stays for all, and the mask hides it from the others.
    """
    needed = cache.positions != PAD  # (B, R)
    if config.window is not None:
        oldest = cache.lengths[:, None] - config.window  # (B, 1)
        needed &= (cache.positions >= oldest) | (cache.positions < config.sinks)
    stay = needed.any(axis=0)  # (R,)
    return replace(
        cache,
        keys=tuple(key[:, :, stay] for key in cache.keys),  # (B, G, R, D)
        values=tuple(value[:, :, stay] for value in cache.values),  # (B, G, R, D)
        positions=cache.positions[:, stay],  # (B, R)
    )


def reorder_rows(cache: BatchCache, rows: Any) -> BatchCache:
    """The cache whose row i is row ``rows[i]`` of ``cache``; rows may repeat or be left out.

    Raises:
        InputError: no rows, not integers, or a row that the cache has not.
    """
    chosen = as_integers(rows, "rows")  # (new B,)
    count = len(cache.lengths)
    outside = chosen[(chosen < 0) | (chosen >= count)]
    if outside.size:
        raise InputError(
            f"row {outside[0]} is outside the batch of {count} (expected 0 to {count - 1})"
        )
    return replace(
        cache,
        keys=tuple(key[chosen] for key in cache.keys),  # (new B, G, R, D)
        values=tuple(value[chosen] for value in cache.values),  # (new B, G, R, D)
        positions=cache.positions[chosen],  # (new B, R)
        lengths=cache.lengths[chosen],  # (new B,)
    )


def merge_rows(caches: Sequence[BatchCache]) -> BatchCache:
    """The rows of all ``caches``, at least one, in order; shorter ones get pad columns in front."""
    columns = max(cache.positions.shape[1] for cache in caches)

    def widen(array: Floats | Ints, axis: int, filling: int) -> Any:
        missing = [(0, 0)] * array.ndim
        missing[axis] = (columns - array.shape[axis], 0)
        return np.pad(array, missing, constant_values=filling)

    def joined(name: str) -> tuple[Floats, ...]:
        layers = zip(*(getattr(cache, name) for cache in caches), strict=True)
        return tuple(np.concatenate([widen(one, 2, 0) for one in layer]) for layer in layers)

    return BatchCache(
        keys=joined("keys"),  # per layer (sum of B, G, R, D)
        values=joined("values"),
        positions=np.concatenate([widen(cache.positions, 1, PAD) for cache in caches]),
        lengths=np.concatenate([cache.lengths for cache in caches]),  # (sum of B,)
        fingerprint=caches[0].fingerprint,
    )
