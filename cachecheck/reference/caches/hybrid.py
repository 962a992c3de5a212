"""A hybrid decoder: recurrent blocks with a fixed state, and attention layers with a cache.

The full pass has no state anywhere: shifted copies, decays in closed form, a triangle. The cached
pass carries a convolution's tail, a recurrence's state, and keys with their positions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cachecheck.errors import Unsupported
from cachecheck.reference.caches.hybrid_attention import attend_chunk, attend_whole
from cachecheck.reference.caches.hybrid_batch import (
    HybridBatch,
    check_hybrid_batch,
    check_row_count,
    new_hybrid_batch,
)
from cachecheck.reference.caches.hybrid_cache import (
    AttentionState,
    HybridCache,
    LayerState,
    RecurrentState,
    check_hybrid_cache,
    load_hybrid_cache,
    new_hybrid_cache,
    save_hybrid_cache,
)
from cachecheck.reference.caches.hybrid_config import hybrid_config
from cachecheck.reference.caches.hybrid_recurrence import block_chunk, block_whole
from cachecheck.reference.caches.hybrid_weights import RecurrentWeights, draw_hybrid_weights
from cachecheck.reference.checks import check_fits, check_tokens
from cachecheck.reference.config import Config, Precision
from cachecheck.reference.layers import read_out
from cachecheck.reference.positions import Ints, embed
from cachecheck.reference.weights import Floats, LayerWeights
from cachecheck.reference.work import Work


class HybridDecoder:
    """Pairs of a recurrent block and an attention layer, over one set of weights.

    Args:
        config: of the attention layers, of which there are ``config.layers``; each follows a
            recurrent block of the same width. Its window bounds attention alone: the recurrence
            remembers what attention no longer sees.
        kernel_width: K, how many tokens the convolution of a recurrent block reads.
        seed: of the weights.
    """

    mutates_cache = False

    def __init__(self, config: Config, *, kernel_width: int = 3, seed: int = 0) -> None:
        self.config = config
        self.seed = seed
        self.weights = draw_hybrid_weights(config, kernel_width, seed)
        self.vocab_size = config.vocab_size
        self.window = config.window
        self.max_length = config.max_length
        self.dtype = config.dtype
        self._work = Work()

    def __repr__(self) -> str:
        kernel_width = self.weights.kernel_width
        return f"HybridDecoder({self.config}, kernel_width={kernel_width}, seed={self.seed})"

    def full(self, tokens: Any) -> Floats:
        """(T,) integers -> (T, width) or (T, V), no cache and no state involved."""
        ids = check_tokens(tokens, self.vocab_size)  # (T,)
        check_fits(len(ids), self.config)
        positions = np.arange(len(ids))  # (T,)
        with np.errstate(invalid="raise", over="raise", divide="raise"):
            x = embed(self.weights.attention, ids, positions)  # (T, width)
            for layer in self.weights.layers:
                if isinstance(layer, RecurrentWeights):
                    x = block_whole(x, layer, self.config)  # (T, width)
                else:
                    x = attend_whole(x, layer, self.config, positions)  # (T, width)
            return read_out(x, self.weights.attention)  # (T, width) or (T, V)

    def new_cache(self) -> HybridCache:
        """The cache of no tokens."""
        return new_hybrid_cache(self.weights)

    def extend(self, tokens: Any, cache: HybridCache) -> tuple[Floats, HybridCache]:
        """The chunk's rows (T, width) and the cache that holds it too; ``cache`` stays as it is.

        Raises:
            InputError: bad tokens, a cache of another decoder, or ``max_length`` exceeded.
        """
        ids = check_tokens(tokens, self.vocab_size)  # (T,)
        check_hybrid_cache(cache, self.weights)
        length = cache.length + len(ids)
        check_fits(length, self.config)
        positions = np.arange(cache.length, length)  # (T,)
        after_layers: list[LayerState] = []
        with np.errstate(invalid="raise", over="raise", divide="raise"):
            x = embed(self.weights.attention, ids, positions)  # (T, width)
            for layer, past in zip(self.weights.layers, cache.layers, strict=True):
                x, after = self._layer_chunk(x, layer, past, positions)  # (T, width)
                after_layers.append(after)
            rows = read_out(x, self.weights.attention)  # (T, width) or (T, V)
        return rows, HybridCache(tuple(after_layers), length, cache.fingerprint)

    def full_batch(self, tokens: Sequence[Any]) -> list[Floats]:
        """Rows of B sequences, (T_b, width) or (T_b, V) for each, no cache involved."""
        return [self.full(row) for row in tokens]

    def new_batch_cache(self, n: int) -> HybridBatch:
        """The cache of ``n`` >= 1 sequences without any token."""
        return new_hybrid_batch(self.weights, n)

    def extend_batch(
        self, tokens: Sequence[Any], cache: HybridBatch
    ) -> tuple[list[Floats], HybridBatch]:
        """Append a chunk of at least one token to every row; ``cache`` stays as it is.

        Raises:
            InputError: not one chunk a row, or what `extend` refuses.
        """
        past = check_hybrid_batch(cache, self.weights).rows
        check_row_count(tokens, len(past))
        longest = max(map(len, tokens))
        pairs = [
            self._extend_row(row, longest - len(row), one)
            for row, one in zip(tokens, past, strict=True)
        ]
        return [rows for rows, _ in pairs], HybridBatch(tuple(after for _, after in pairs))

    def reorder(self, cache: HybridBatch, rows: Any) -> HybridBatch:
        """The batch whose row i is row ``rows[i]``; rows may repeat or be left out."""
        return check_hybrid_batch(cache, self.weights).chosen(rows)

    def state(self, cache: HybridCache | HybridBatch) -> list[Mapping[str, NDArray[Any]]]:
        """Per layer, the arrays by name: tail and carry, or key, value and positions."""
        return cache.state()

    def crop(self, cache: HybridCache, length: int) -> HybridCache:
        """``cache`` if it holds ``length`` tokens already.

        Raises:
            Unsupported: any other length.
        """
        check_hybrid_cache(cache, self.weights)
        if length != cache.length:
            raise Unsupported(
                f"a recurrent state cannot be rolled back from {cache.length} tokens to {length}; "
                "keep the cache of that length instead"
            )
        return cache

    def save(self, cache: HybridCache) -> bytes:
        """The cache as bytes."""
        return save_hybrid_cache(check_hybrid_cache(cache, self.weights))

    def load(self, data: bytes) -> HybridCache:
        """The cache that `save` wrote; bad bytes and other decoders' raise InputError."""
        return load_hybrid_cache(data, self.weights)

    def work(self) -> int:
        """Rows that `extend` has multiplied by a projection so far."""
        return self._work.projected_rows

    def _extend_row(
        self,
        tokens: Any,
        pads: int,  # noqa: ARG002 - a state has no mask to hide pads by: they must not reach it
        past: HybridCache,
    ) -> tuple[Floats, HybridCache]:
        """A row of a ragged batch, which would have ``pads`` in front in a padded one."""
        return self.extend(tokens, past)

    def _layer_chunk(
        self, x: Floats, layer: RecurrentWeights | LayerWeights, past: LayerState, positions: Ints
    ) -> tuple[Floats, LayerState]:
        if isinstance(layer, RecurrentWeights) and isinstance(past, RecurrentState):
            return self._recurrent_chunk(x, layer, past)
        assert isinstance(layer, LayerWeights)  # noqa: S101 - made by the same weights
        assert isinstance(past, AttentionState)  # noqa: S101
        return attend_chunk(x, layer, self.config, past, positions, work=self._work)

    def _recurrent_chunk(
        self, x: Floats, layer: RecurrentWeights, past: RecurrentState
    ) -> tuple[Floats, RecurrentState]:
        """A recurrent block over the chunk, going on from ``past``."""
        return block_chunk(x, layer, self.config, past, self._work)


def hybrid(seed: int, dtype: Precision = "float64") -> HybridDecoder:
    """The target ``hybrid``: configuration, kernel width and weights follow from the seed.

    Seed 0 is plain: one pair of layers, one head, a kernel of 3.
    """
    config, kernel_width = hybrid_config(seed, dtype)
    return HybridDecoder(config, kernel_width=kernel_width, seed=seed)
