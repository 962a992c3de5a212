"""Batches that are padded differently, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.controls.control import Control, factory_of
from cachecheck.errors import InputError
from cachecheck.reference import Cache, Config, ReferenceDecoder
from cachecheck.reference.cache import LayerState
from cachecheck.reference.caches.batch_attention import cached_mask
from cachecheck.reference.caches.batch_cache import (
    PAD,
    BatchCache,
    check_batch_cache,
    evict_columns,
    new_batch_cache,
)
from cachecheck.reference.caches.batch_pass import Columns, batch_pass
from cachecheck.reference.caches.batched import BatchedDecoder
from cachecheck.reference.positions import Ints
from cachecheck.reference.weights import Floats

CacheTuple = tuple[Cache, ...]


class RandomPads(BatchedDecoder):
    """Pads with a token drawn anew for each call."""

    def __init__(self, config: Config, *, seed: int) -> None:
        super().__init__(config, seed=seed)
        self.rng = np.random.default_rng(seed)

    def full_batch(self, tokens: Sequence[Any]) -> list[Floats]:
        """Rows of B sequences, (T_b, width) or (T_b, V) for each."""
        self.pad_token = int(self.rng.integers(self.vocab_size))
        return super().full_batch(tokens)

    def extend_batch(
        self, tokens: Sequence[Any], cache: BatchCache
    ) -> tuple[list[Floats], BatchCache]:
        """The chunks' rows and the cache that holds them too."""
        self.pad_token = int(self.rng.integers(self.vocab_size))
        return super().extend_batch(tokens, cache)


class RightPads(BatchedDecoder):
    """Pads behind each chunk, so that columns of pads lie between the tokens of a row."""

    def full_batch(self, tokens: Sequence[Any]) -> list[Floats]:
        """Rows of B sequences, (T_b, width) or (T_b, V) for each."""
        checked = self._check_rows(tokens, None)
        return self._run(checked, new_batch_cache(self.weights, len(checked)), counted=False)[0]

    def extend_batch(
        self, tokens: Sequence[Any], cache: BatchCache
    ) -> tuple[list[Floats], BatchCache]:
        """The chunks' rows and the cache that holds them too."""
        check_batch_cache(cache, self.weights.fingerprint)
        return self._run(self._check_rows(tokens, cache.lengths), cache, counted=True)

    def _run(
        self, rows: list[Ints], cache: BatchCache, *, counted: bool
    ) -> tuple[list[Floats], BatchCache]:
        sizes = np.array([len(row) for row in rows])  # (B,)
        longest = int(sizes.max())
        ids = np.stack([np.pad(row, (0, longest - len(row))) for row in rows])  # (B, T)
        column = np.arange(longest)  # (T,)
        positions = np.where(
            column < sizes[:, None], cache.lengths[:, None] + column, PAD
        )  # (B, T)
        key_positions = np.concatenate([cache.positions, positions], axis=1)  # (B, R+T)
        columns = Columns(
            positions, key_positions, cached_mask(positions, key_positions, self.config)
        )
        work = self._work if counted else None
        found, keys, values = batch_pass(self.weights, ids, columns, cache, work)
        after = BatchCache(keys, values, key_positions, cache.lengths + sizes, cache.fingerprint)
        chunks = [row[:size] for row, size in zip(found, sizes, strict=True)]
        return chunks, evict_columns(after, self.config)


class OneAfterAnother(ReferenceDecoder):
    """A batch is a tuple of caches, each row of it extended by itself."""

    crop = save = load = None  # type: ignore[assignment]  # of single sequences; not offered

    def new_batch_cache(self, n: int) -> CacheTuple:
        """Empty caches."""
        return tuple(self.new_cache() for _ in range(n))

    def extend_batch(
        self, tokens: Sequence[Any], cache: CacheTuple
    ) -> tuple[list[Floats], CacheTuple]:
        """The chunks' rows, and the caches that hold them too."""
        if len(tokens) != len(cache):
            raise InputError(f"expected tokens for {len(cache)} rows; got {len(tokens)}")
        pairs = [self.extend(some, one) for some, one in zip(tokens, cache, strict=True)]
        return [rows for rows, _ in pairs], tuple(after for _, after in pairs)

    def reorder(self, cache: CacheTuple, rows: Sequence[int]) -> CacheTuple:
        """The same caches in another order; one that is repeated is there twice."""
        return tuple(cache[row] for row in rows)

    def merge(self, caches: Sequence[CacheTuple]) -> CacheTuple:
        """All of them."""
        return tuple(one for several in caches for one in several)

    def state(self, cache: Any) -> list[LayerState]:
        """The layers of each row in turn."""
        several = cache if isinstance(cache, tuple) else (cache,)
        return [layer for one in several for layer in one.state()]


BATCHES = (
    Control(
        "random-pads",
        "What stands in the pads changes from call to call.",
        "No row attends to a pad, whatever token it is.",
        factory_of(RandomPads),
    ),
    Control(
        "pads-on-the-right",
        "Pads lie between the tokens of a row, so that its columns are no positions.",
        "Positions are kept for each row, and the mask goes by them.",
        factory_of(RightPads),
    ),
    Control(
        "rows-one-after-another",
        "Two rows of a reordered batch are the same object.",
        "No cache is ever changed: each row goes on in new ones.",
        factory_of(OneAfterAnother),
    ),
)
