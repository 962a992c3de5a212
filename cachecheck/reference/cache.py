"""The plainest cache: keys, values and positions per layer, as values that are never changed.

`append`, `evict` and `crop` return new caches; the arrays of one are read-only, so that a stray
write raises instead of reaching another branch. The other kinds are in `caches`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from cachecheck.errors import InputError
from cachecheck.reference.checks import check_consecutive
from cachecheck.reference.config import Config
from cachecheck.reference.positions import Ints
from cachecheck.reference.weights import Floats, Weights

LayerState = Mapping[str, NDArray[Any]]
"""A layer's arrays by name, the filled part alone, in order of positions."""


class ImmutableLayer(Protocol):
    """A layer that is a value, with what `LayeredCache` needs."""

    @property
    def length(self) -> int: ...  # noqa: D102
    def append(self, key: Floats, value: Floats, positions: Ints) -> Self: ...  # noqa: D102
    def evict(self, window: int | None, sinks: int) -> Self: ...  # noqa: D102
    def crop(self, length: int) -> Self: ...  # noqa: D102
    def state(self) -> LayerState: ...  # noqa: D102


L = TypeVar("L", bound=ImmutableLayer)


@dataclass(frozen=True, eq=False)
class LayeredCache(Generic[L]):
    """A cache whose layers are values: nothing that was returned ever changes.

    Attributes:
        layers: one a layer of the decoder.
        length: S, tokens so far, evicted ones included.
        last_chunk: length of the latest call; only a wrong mask uses it.
        fingerprint: of the weights that made it; other weights refuse it.
    """

    layers: tuple[L, ...]
    length: int
    last_chunk: int
    fingerprint: str

    def commit(self, appended: Sequence[L], new: int, config: Config) -> Self:
        """A cache of the layers in ``appended``, cut to window and sinks."""
        layers = tuple(one.evict(config.window, config.sinks) for one in appended)
        return replace(self, layers=layers, length=self.length + new, last_chunk=new)

    def crop(self, length: int) -> Self:
        """A cache of the first ``length`` tokens."""
        layers = tuple(one.crop(length) for one in self.layers)
        return replace(self, layers=layers, length=length, last_chunk=min(self.last_chunk, length))

    def state(self) -> list[LayerState]:
        """Per layer, the named arrays (the border's ``state``)."""
        return [one.state() for one in self.layers]


@dataclass(frozen=True, eq=False)
class LayerCache:
    """The keys and values of one layer: R retained positions, R = S without a window."""

    key: Floats  # (G, R, D), rotated when positions are rotary
    value: Floats  # (G, R, D)
    positions: Ints  # (R,) absolute, increasing
    length: int = -1  # S; from the last position unless given, as after a crop into the evicted

    def __post_init__(self) -> None:
        if not len(self.positions) == self.key.shape[1] == self.value.shape[1]:
            raise InputError(
                f"{len(self.positions)} positions need as many keys and values; "
                f"got shapes {self.key.shape} and {self.value.shape}"
            )
        for array in (self.key, self.value, self.positions):
            array.flags.writeable = False
        if self.length < 0:
            last = int(self.positions[-1]) if self.positions.size else -1
            object.__setattr__(self, "length", last + 1)

    def append(self, key: Floats, value: Floats, positions: Ints) -> LayerCache:
        """This layer with T new positions behind; the new ones must follow on.

        Raises:
            InputError: positions with a gap, or not one key and value for each.
        """
        new = check_follows(key, value, positions, self.length)
        return LayerCache(
            np.concatenate([self.key, key], axis=1),  # (G, R+T, D)
            np.concatenate([self.value, value], axis=1),  # (G, R+T, D)
            np.concatenate([self.positions, new]),  # (R+T,)
        )

    def evict(self, window: int | None, sinks: int) -> LayerCache:
        """This layer with the last ``window`` positions and the sinks alone.

        Keeps W positions although the next row sees W-1 of them, as the published experiment
        does; its payload figure counts W.
        """
        if window is None:
            return self
        return self._select(is_retained(self.positions, self.length, window, sinks), self.length)

    def crop(self, length: int) -> LayerCache:
        """This layer without the positions from ``length`` on."""
        return self._select(self.positions < length, length)

    def _select(self, keep: NDArray[np.bool_], length: int) -> LayerCache:
        return LayerCache(self.key[:, keep], self.value[:, keep], self.positions[keep], length)

    def state(self) -> LayerState:
        """The three arrays by name."""
        return {"key": self.key, "value": self.value, "positions": self.positions}

    @property
    def payload(self) -> int:
        """Bytes of the retained key and value arrays alone."""
        return self.key.nbytes + self.value.nbytes


class Cache(LayeredCache[LayerCache]):
    """A decoder's memory of the tokens so far, copied whenever something is appended."""

    @property
    def payload(self) -> int:
        """Bytes of all retained key and value arrays."""
        return sum(layer.payload for layer in self.layers)


def new_cache(weights: Weights) -> Cache:
    """The cache of no tokens at all."""
    config = weights.config
    empty = np.empty((config.key_value_heads, 0, config.head_width), config.numpy_dtype)
    positions = np.empty(0, np.int64)
    layers = tuple(
        LayerCache(empty.copy(), empty.copy(), positions.copy()) for _ in range(config.layers)
    )
    return Cache(layers, 0, 0, weights.fingerprint)


def is_retained(positions: Ints, length: int, window: int, sinks: int) -> NDArray[np.bool_]:
    """For each of (R,) ``positions``, True if a windowed cache of ``length`` tokens keeps it."""
    return (positions >= length - window) | (positions < sinks)


def check_follows(key: Floats, value: Floats, positions: Ints, length: int) -> Ints:
    """``positions`` if they go on at ``length`` and have one key and value each.

    Raises:
        InputError: positions with a gap, or another number of keys or values.
    """
    new = check_consecutive(positions, "new positions")
    if new[0] != length:
        raise InputError(f"new positions must go on at {length}, the cache's next; got {new[0]}")
    if key.shape != value.shape or key.shape[1] != len(new):
        raise InputError(
            f"{len(new)} positions need as many keys and values; "
            f"got shapes {key.shape} and {value.shape}"
        )
    return new
