"""A decoder whose layers share keys and values: every second one has none of its own.

Layers come in pairs. The owner projects and keeps keys and values; the receiver asks with its own
queries and attends over those of the owner, the chunk's included. A cache has owners' layers alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cachecheck.reference.cache import Cache, LayerCache
from cachecheck.reference.caches.random_configs import small_config
from cachecheck.reference.caches.tied_attention import (
    attend,
    owner_chunk,
    pair_whole,
    receiver_output,
    receiver_queries,
)
from cachecheck.reference.caches.tied_weights import draw_tied_weights
from cachecheck.reference.checks import check_fits, check_tokens
from cachecheck.reference.config import Config, Precision
from cachecheck.reference.decoder import CopyingStorage
from cachecheck.reference.layers import read_out
from cachecheck.reference.positions import Ints, embed
from cachecheck.reference.stored import StoredDecoder
from cachecheck.reference.weights import Floats


class TiedDecoder(StoredDecoder[Cache]):
    """Pairs of an owner and a receiver, over one set of weights.

    Args:
        config: of the owners, of which there are ``config.layers``; each has a receiver behind it
            with the same heads, and without an MLP.
        seed: of the weights.
    """

    def __init__(self, config: Config, *, seed: int = 0) -> None:
        super().__init__(config, CopyingStorage, seed=seed)
        self.weights, self.receivers = draw_tied_weights(config, seed)
        self.storage = CopyingStorage(self.weights)

    def full(self, tokens: Any) -> Floats:
        """(T,) integers -> (T, width) or (T, V), no cache involved."""
        ids = check_tokens(tokens, self.vocab_size)  # (T,)
        check_fits(len(ids), self.config)
        with np.errstate(invalid="raise", over="raise", divide="raise"):
            x = embed(self.weights, ids, np.arange(len(ids)))  # (T, width)
            for owner, receiver in zip(self.weights.layers, self.receivers, strict=True):
                x = pair_whole(x, owner, receiver, self.config)  # (T, width)
            return read_out(x, self.weights)  # (T, width) or (T, V)

    def extend(self, tokens: Any, cache: Cache) -> tuple[Floats, Cache]:
        """The chunk's rows (T, width) and the cache that holds it too; ``cache`` stays as it is.

        Raises:
            InputError: bad tokens, a cache of another decoder, or ``max_length`` exceeded.
        """
        ids = check_tokens(tokens, self.vocab_size)  # (T,)
        self._check(cache)
        check_fits(cache.length + len(ids), self.config)
        positions = np.arange(cache.length, cache.length + len(ids))  # (T,)
        after_layers = []
        with np.errstate(invalid="raise", over="raise", divide="raise"):
            x = embed(self.weights, ids, positions)  # (T, width)
            for number, (owner, past) in enumerate(
                zip(self.weights.layers, cache.layers, strict=True)
            ):
                x, visible = owner_chunk(
                    x, owner, self.config, past, positions, work=self._work
                )  # (T, width), (G, R+T, D) keys and values
                x, visible = self._receive(x, number, past, visible, positions)  # (T, width)
                after_layers.append(visible)
            rows = read_out(x, self.weights)  # (T, width) or (T, V)
        return rows, cache.commit(after_layers, len(ids), self.config)

    def _receive(
        self,
        x: Floats,
        number: int,
        past: LayerCache,  # noqa: ARG002 - a receiver must not use it
        visible: LayerCache,
        positions: Ints,
    ) -> tuple[Floats, LayerCache]:
        """A receiver over T new tokens, and the layer that its owner is to keep.

        Args:
            x: (T, width), from the owner.
            number: of the pair.
            past: the owner's R positions as they were before the chunk.
            visible: these and the chunk, (G, R+T, D) keys and values.
            positions: (T,) positions of the chunk.
        """
        receiver = self.receivers[number]
        query = receiver_queries(x, receiver, self.config, positions, self._work)  # (H, T, D)
        mixed = attend(query, visible, self.config, positions)  # (H, T, D)
        return receiver_output(x, mixed, receiver), visible  # (T, width)


def tied(seed: int, dtype: Precision = "float64") -> TiedDecoder:
    """One or two pairs; one for seed 0, whose owner has the frozen model's weights."""
    config = small_config(seed, dtype, layers=1) if seed == 0 else small_config(seed, dtype)
    return TiedDecoder(config, seed=seed)
