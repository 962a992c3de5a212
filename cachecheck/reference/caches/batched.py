"""The reference decoder for batches of ragged rows, left-padded in every call.

Single sequences take the reference's own path, so that a batch can be judged by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cachecheck.errors import InputError
from cachecheck.reference.cache import Cache, new_cache
from cachecheck.reference.caches.batch_attention import (
    cached_mask,
    full_mask,
    left_pad,
    padded_positions,
)
from cachecheck.reference.caches.batch_cache import (
    BatchCache,
    check_batch_cache,
    evict_columns,
    merge_rows,
    new_batch_cache,
    reorder_rows,
)
from cachecheck.reference.caches.batch_pass import Columns, batch_pass
from cachecheck.reference.caches.random_configs import random_config
from cachecheck.reference.checks import check_fits, check_tokens
from cachecheck.reference.config import Config, Precision
from cachecheck.reference.extend import extend
from cachecheck.reference.full import full
from cachecheck.reference.masks import Bools
from cachecheck.reference.positions import Ints
from cachecheck.reference.weights import Floats, draw_weights
from cachecheck.reference.work import Work


class BatchedDecoder:
    """A reference decoder that also takes many sequences at a time.

    Args:
        config: the decoder's shape and features.
        seed: of its weights.
    """

    mutates_cache = False
    pad_token = 0  # in the pads; any would do, for no row attends to them

    def __init__(self, config: Config, *, seed: int = 0) -> None:
        self.config = config
        self.seed = seed
        self.weights = draw_weights(config, seed)
        self.vocab_size = config.vocab_size
        self.window = config.window
        self.max_length = config.max_length
        self.dtype = config.dtype
        self._work = Work()

    def __repr__(self) -> str:
        return f"BatchedDecoder({self.config}, seed={self.seed})"

    def full(self, tokens: Any) -> Floats:
        """(T,) integers -> (T, width) or (T, V), no cache involved."""
        return full(self.weights, tokens).rows

    def new_cache(self) -> Cache:
        """The cache of one sequence without any token."""
        return new_cache(self.weights)

    def extend(self, tokens: Any, cache: Cache) -> tuple[Floats, Cache]:
        """The chunk's rows (T, width) and the cache that holds it too."""
        trace, after = extend(self.weights, tokens, cache, work=self._work)
        return trace.rows, after

    def state(self, cache: Cache | BatchCache) -> list[Mapping[str, NDArray[Any]]]:
        """Per layer, the cached arrays by name; of a batch with an axis for its rows in front."""
        return cache.state()

    def work(self) -> int:
        """Rows that `extend` and `extend_batch` have projected so far; pads are rows as well."""
        return self._work.projected_rows

    def full_batch(self, tokens: Sequence[Any]) -> list[Floats]:
        """Rows of B sequences from one left-padded pass, (T_b, width) or (T_b, V) for each.

        Raises:
            InputError: no sequence, bad tokens, or more of them than ``max_length``.
        """
        ids, pads = left_pad(self._check_rows(tokens, None), self.pad_token)  # (B, T), (B,)
        positions = padded_positions(pads, ids.shape[1], np.zeros_like(pads))  # (B, T)
        columns = Columns(positions, positions, full_mask(pads, ids.shape[1], self.config))
        nothing = new_batch_cache(self.weights, len(ids))
        rows, _, _ = batch_pass(self.weights, ids, columns, nothing, None)
        return [row[pad:] for row, pad in zip(rows, pads, strict=True)]

    def new_batch_cache(self, n: int) -> BatchCache:
        """The cache of ``n`` >= 1 sequences without any token."""
        return new_batch_cache(self.weights, n)

    def extend_batch(
        self, tokens: Sequence[Any], cache: BatchCache
    ) -> tuple[list[Floats], BatchCache]:
        """Append a chunk of at least one token to every row; ``cache`` stays as it is.

        Args:
            tokens: B chunks, (T_b,) integers each.
            cache: of B rows.

        Returns:
            The chunks' rows, (T_b, width) or (T_b, V) each, and the cache that holds them too.

        Raises:
            InputError: not one chunk a row, bad tokens, a cache of another decoder, or
                ``max_length`` exceeded.
        """
        check_batch_cache(cache, self.weights.fingerprint)
        ids, pads = left_pad(
            self._check_rows(tokens, cache.lengths), self.pad_token
        )  # (B, T), (B,)
        positions = padded_positions(pads, ids.shape[1], cache.lengths)  # (B, T)
        key_positions = np.concatenate([cache.positions, positions], axis=1)  # (B, R+T)
        columns = Columns(positions, key_positions, self._cached_mask(positions, key_positions))
        rows, keys, values = batch_pass(self.weights, ids, columns, cache, self._work)
        lengths = cache.lengths + ids.shape[1] - pads  # (B,)
        after = BatchCache(keys, values, key_positions, lengths, cache.fingerprint)
        chunks = [row[pad:] for row, pad in zip(rows, pads, strict=True)]
        return chunks, evict_columns(after, self.config)

    def reorder(self, cache: BatchCache, rows: Any) -> BatchCache:
        """The cache whose row i is row ``rows[i]``; rows may repeat or be left out."""
        return reorder_rows(check_batch_cache(cache, self.weights.fingerprint), rows)

    def merge(self, caches: Sequence[BatchCache]) -> BatchCache:
        """The rows of the first cache, then those of the second, and so on.

        Raises:
            InputError: no caches, or one of another decoder.
        """
        if not caches:
            raise InputError("merge needs at least one cache; got none")
        return merge_rows([check_batch_cache(one, self.weights.fingerprint) for one in caches])

    def _cached_mask(self, query: Ints, key: Ints) -> Bools:
        """The mask of new rows over all columns: (B, T), (B, R+T) -> (B, T, R+T)."""
        return cached_mask(query, key, self.config)

    def _check_rows(self, tokens: Sequence[Any], past: Ints | None) -> list[Ints]:
        """One array of tokens a row; ``past`` are the lengths (B,) that they go on from."""
        count = len(tokens) if past is None else len(past)
        if not len(tokens) or len(tokens) != count:
            raise InputError(f"expected tokens for {max(count, 1)} rows; got {len(tokens)} rows")
        checked = []
        for number, row in enumerate(tokens):
            try:
                checked.append(check_tokens(row, self.vocab_size))
                check_fits(len(checked[-1]) + (0 if past is None else past[number]), self.config)
            except InputError as error:
                raise InputError(f"row {number}: {error}") from error
        return checked


def batched(seed: int, dtype: Precision = "float64") -> BatchedDecoder:
    """The target ``batched``: configuration and weights follow from the seed.

    Seed 0 is plain: two layers of one head over all tokens.
    """
    if seed == 0:
        return BatchedDecoder(Config(vocab_size=16, width=8, head_width=8, dtype=dtype))
    rng = np.random.default_rng([seed, 5])
    config = random_config(rng, least_window=1, most_layers=3, dtype=dtype)
    return BatchedDecoder(config, seed=seed)
