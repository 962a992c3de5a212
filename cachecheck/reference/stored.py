"""Decoders behind the border: one set of weights, one forward pass, any kind of cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from cachecheck.errors import InputError, Unsupported
from cachecheck.reference.cache import LayerState, is_retained
from cachecheck.reference.checks import check_fits
from cachecheck.reference.config import Config
from cachecheck.reference.extend import AnyCache, check_cache, extend
from cachecheck.reference.full import full
from cachecheck.reference.mechanisms import RIGHT, Mechanisms
from cachecheck.reference.saving import Header, needed_positions, pack, unpack
from cachecheck.reference.weights import Floats, Weights, draw_weights
from cachecheck.reference.work import Work


class InPlaceCache(AnyCache, Protocol):
    """A cache that changes in place, and so has to offer copies."""

    def fork(self) -> Self:
        """An independent copy."""

    def clear(self) -> None:
        """Forget every token."""


K = TypeVar("K", bound=AnyCache)
P = TypeVar("P", bound=InPlaceCache)
K_co = TypeVar("K_co", bound=AnyCache, covariant=True)


class Storage(Protocol[K_co]):
    """A kind of cache: makes caches, empty or from saved arrays."""

    @property
    def cache_type(self) -> type[K_co]: ...  # noqa: D102
    @property
    def evicts(self) -> bool: ...  # noqa: D102 - True if a window drops what no row can see

    def new(self) -> K_co:
        """The cache of no tokens."""

    def restore(self, layers: Sequence[LayerState], length: int, last_chunk: int) -> K_co:
        """The cache with these layers, which have been checked; ``length`` >= 1."""


class StoredDecoder(Generic[K]):
    """The border over one kind of cache.

    Args:
        config: the decoder's shape and features.
        storage: makes the kind of cache for the weights.
        seed: of the weights.
        mechanisms: of the cached path alone; wrong ones make a decoder that the laws must catch.
    """

    mutates_cache = False

    def __init__(
        self,
        config: Config,
        storage: Callable[[Weights], Storage[K]],
        *,
        seed: int = 0,
        mechanisms: Mechanisms = RIGHT,
    ) -> None:
        self.config = config
        self.seed = seed
        self.weights = draw_weights(config, seed)
        self.storage = storage(self.weights)
        self.mechanisms = mechanisms
        self.vocab_size = config.vocab_size
        self.window = config.window
        self.max_length = config.max_length
        self.dtype = config.dtype
        self._work = Work()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.config}, seed={self.seed})"

    def full(self, tokens: Any) -> Floats:
        """(T,) integers -> (T, width) or (T, V), no cache involved."""
        return full(self.weights, tokens).rows

    def new_cache(self) -> K:
        """The cache of no tokens."""
        return self.storage.new()

    def extend(self, tokens: Any, cache: K) -> tuple[Floats, K]:
        """The chunk's rows (T, width) and the cache that holds it too."""
        self._check(cache)
        trace, after = extend(
            self.weights, tokens, cache, mechanisms=self.mechanisms, work=self._work
        )
        return trace.rows, after

    def state(self, cache: K) -> list[LayerState]:
        """Per layer, the filled part of the cached arrays by name, in order of positions."""
        return cache.state()

    def crop(self, cache: K, length: int) -> K:
        """The first ``length`` tokens alone.

        With a window of W, a cache of S tokens retains the last W positions, and the row at
        ``length`` needs the W-1 before it: so one token can be taken back, and any number as long
        as nothing has been evicted that is needed (never with W = 1 or down to the sinks).

        Raises:
            InputError: ``length`` is not an integer from 0 to the tokens so far.
            Unsupported: a position that a later row needs has been evicted.
        """
        self._check(cache)
        whole = isinstance(length, int | np.integer) and not isinstance(length, bool)
        if not whole or not 0 <= length <= cache.length:
            raise InputError(f"crop to a length from 0 to {cache.length}; got {length!r}")
        self._check_retained(cache, int(length))
        return cache.crop(int(length))

    def save(self, cache: K) -> bytes:
        """The cache as the bytes of an npz archive."""
        self._check(cache)
        return pack(self._header(cache), cache.state())

    def load(self, data: bytes) -> K:
        """The cache that `save` was given.

        Raises:
            InputError: bytes that are damaged, of another decoder, or of no possible cache.
        """
        empty = self.storage.new()
        header, layers = unpack(data, self._header(empty), empty.state())
        length, config = header.length, self.config
        possible = np.arange(max(0, length))
        if self.storage.evicts and config.window is not None:
            possible = possible[is_retained(possible, length, config.window, config.sinks)]
        least = needed_positions(length, config) if self.storage.evicts else possible
        for layer in layers:
            positions = layer["positions"]
            whole = np.isin(least, positions).all() and np.isin(positions, possible).all()
            if length < 0 or not whole or (np.diff(positions) <= 0).any():
                raise InputError(f"saved positions are not those of a cache of {length} tokens")
        check_fits(length, config)
        if length == 0:
            return empty
        return self.storage.restore(layers, length, header.last_chunk)

    def work(self) -> int:
        """Rows projected by `extend` so far: a token counts for query, key and value of a layer."""
        return self._work.projected_rows

    def _check_retained(self, cache: K, length: int) -> None:
        """Refuse a rollback to ``length`` tokens after which a row would need evicted positions."""
        for layer in cache.state():
            missing = np.setdiff1d(needed_positions(length, self.config), layer["positions"])
            if missing.size:
                raise Unsupported(
                    f"cannot crop from {cache.length} to {length} tokens: the next row needs "
                    f"position {missing[0]}, which the window of {self.window} has evicted"
                )

    def _header(self, cache: K) -> Header:
        kind = self.storage.cache_type.__name__
        return Header(kind, self.weights.fingerprint, cache.length, cache.last_chunk)

    def _check(self, cache: Any) -> None:
        expected = self.storage.cache_type
        if not isinstance(cache, expected):
            raise InputError(
                f"expected a reference {expected.__name__}; got {type(cache).__name__}"
            )
        check_cache(cache, self.weights)


class InPlaceDecoder(StoredDecoder[P]):
    """The border over a kind of cache that changes in place."""

    mutates_cache = True

    def fork(self, cache: P) -> P:
        """An independent copy."""
        self._check(cache)
        return cache.fork()

    def reset(self, cache: P) -> P:
        """The same cache without any token, for reuse."""
        self._check(cache)
        cache.clear()
        return cache
