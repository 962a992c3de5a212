"""The cache of a hybrid decoder: values that are never changed, to be saved and loaded."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cachecheck.errors import InputError
from cachecheck.reference.caches.hybrid_weights import HybridWeights, RecurrentWeights
from cachecheck.reference.config import Config
from cachecheck.reference.positions import Ints
from cachecheck.reference.weights import Floats

# Raised by numpy and zipfile on bytes that are not an archive, or a damaged one.
_BAD_BYTES = (
    ValueError,
    KeyError,
    OSError,
    EOFError,
    RuntimeError,  # NotImplementedError among them
    SyntaxError,
    MemoryError,
    struct.error,
    zlib.error,
    zipfile.BadZipFile,
)


@dataclass(frozen=True, eq=False)
class RecurrentState:
    """The state that a recurrent block carries; its size does not grow."""

    tail: Floats  # (K-1, width), the convolution's last inputs
    carry: Floats  # (width,), the recurrence's state

    def __post_init__(self) -> None:
        self.tail.flags.writeable = self.carry.flags.writeable = False


@dataclass(frozen=True, eq=False)
class AttentionState:
    """The keys and values of an attention layer: R retained positions, R = S without a window."""

    key: Floats  # (G, R, D), rotated when positions are rotary
    value: Floats  # (G, R, D)
    positions: Ints  # (R,) absolute, increasing

    def __post_init__(self) -> None:
        for array in (self.key, self.value, self.positions):
            array.flags.writeable = False

    def append(self, key: Floats, value: Floats, positions: Ints) -> AttentionState:
        """This layer with T new positions behind."""
        return AttentionState(
            np.concatenate([self.key, key], axis=1),  # (G, R+T, D)
            np.concatenate([self.value, value], axis=1),  # (G, R+T, D)
            np.concatenate([self.positions, positions]),  # (R+T,)
        )

    def evict(self, config: Config) -> AttentionState:
        """This layer without what no later row can see."""
        stays = np.isin(
            self.positions, retained_positions(int(self.positions[-1]) + 1, config)
        )  # (R,)
        return AttentionState(self.key[:, stays], self.value[:, stays], self.positions[stays])


LayerState = RecurrentState | AttentionState


@dataclass(frozen=True, eq=False)
class HybridCache:
    """A hybrid decoder's memory of S tokens: a state for each layer, and a fingerprint."""

    layers: tuple[LayerState, ...]
    length: int
    fingerprint: str

    def state(self) -> list[Mapping[str, NDArray[Any]]]:
        """Per layer, the named arrays (the border's ``state``)."""
        return [vars(layer).copy() for layer in self.layers]


def retained_positions(length: int, config: Config) -> Ints:
    """The positions that an attention layer keeps of ``length`` tokens: sinks and window."""
    oldest = 0 if config.window is None else max(0, length - config.window)
    return np.concatenate([np.arange(min(config.sinks, oldest)), np.arange(oldest, length)])


def new_hybrid_cache(weights: HybridWeights) -> HybridCache:
    """The cache of no tokens: nothing before the convolution, and a state of zero."""
    config, dtype = weights.config, weights.config.numpy_dtype

    def empty(layer: Any) -> LayerState:
        if isinstance(layer, RecurrentWeights):
            tail = np.zeros((weights.kernel_width - 1, config.width), dtype)
            return RecurrentState(tail, np.zeros(config.width, dtype))
        none = np.empty((config.key_value_heads, 0, config.head_width), dtype)
        return AttentionState(none, none.copy(), np.empty(0, np.int64))

    layers = tuple(empty(layer) for layer in weights.layers)
    return HybridCache(layers, 0, weights.fingerprint)


def check_hybrid_cache(cache: Any, weights: HybridWeights) -> HybridCache:
    """``cache`` if these weights made it.

    Raises:
        InputError: not a hybrid cache, or made by other weights.
    """
    if not isinstance(cache, HybridCache):
        raise InputError(f"expected a HybridCache; got {type(cache).__name__}")
    if cache.fingerprint != weights.fingerprint:
        raise InputError("this cache was filled by another decoder; its rows would be wrong")
    return cache


def save_hybrid_cache(cache: HybridCache) -> bytes:
    """The cache as an npz archive."""
    named: dict[str, Any] = {"length": cache.length, "fingerprint": cache.fingerprint}
    for number, layer in enumerate(cache.state()):
        named |= {f"{number}.{name}": array for name, array in layer.items()}
    buffer = io.BytesIO()
    np.savez(buffer, **named)
    return buffer.getvalue()


def load_hybrid_cache(data: bytes, weights: HybridWeights) -> HybridCache:
    """The cache that `save_hybrid_cache` wrote.

    Raises:
        InputError: bytes that are no saved cache, a damaged one, or one of another decoder.
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            named = {name: archive[name] for name in archive.files}
        length, fingerprint = int(named.pop("length")), str(named.pop("fingerprint"))
    except (*_BAD_BYTES, TypeError, AttributeError) as error:  # a bare array is no archive
        raise InputError(
            "expected the bytes of a saved hybrid cache; these cannot be read "
            f"({type(error).__name__}); save the cache again"
        ) from error
    empty = new_hybrid_cache(weights)
    check_hybrid_cache(HybridCache((), length, fingerprint), weights)
    layers: list[LayerState] = []
    for number, layer in enumerate(empty.layers):
        found = {name: named.get(f"{number}.{name}") for name in vars(layer)}
        problem = _problem(found, layer, length, weights.config)
        if problem:
            raise InputError(f"layer {number} of the saved cache {problem}; save the cache again")
        layers.append(type(layer)(**found))  # type: ignore[arg-type]  # _problem has checked them
    return HybridCache(tuple(layers), length, fingerprint)


def _problem(
    found: Mapping[str, NDArray[Any] | None], empty: LayerState, length: int, config: Config
) -> str | None:
    """The reason why ``found`` cannot be a layer of ``length`` tokens; None if it can."""
    for name, model in vars(empty).items():
        array = found[name]
        count = length if config.window is None else min(length, config.window + config.sinks)
        shape = model.shape
        if isinstance(empty, AttentionState):
            shape = (count,) if name == "positions" else (shape[0], count, shape[2])
        if array is None or array.shape != shape or array.dtype != model.dtype:
            came = "nothing" if array is None else f"{array.dtype} {array.shape}"
            return f"must hold {name} of {model.dtype} {shape}; got {came}"
        if not np.all(np.isfinite(array)):
            return f"holds values in {name} that are not finite"
    positions = found.get("positions")
    if positions is not None and not np.array_equal(positions, retained_positions(length, config)):
        return f"does not hold the positions that remain of {length} tokens"
    return None
