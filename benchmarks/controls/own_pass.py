"""A cached pass written down a second time, in parts that a control can replace."""

from __future__ import annotations

from typing import Any

import numpy as np

from cachecheck.reference import Cache, LayerCache, ReferenceDecoder, softmax
from cachecheck.reference.checks import check_fits, check_tokens
from cachecheck.reference.layers import finish, normalise, project, read_out, score_bias
from cachecheck.reference.masks import Bools, allowed
from cachecheck.reference.positions import Ints, embed
from cachecheck.reference.weights import Floats, LayerWeights


class OwnPass(ReferenceDecoder):
    """The reference decoder with a cached pass of its own; ``full`` is the reference's."""

    def extend(self, tokens: Any, cache: Cache) -> tuple[Floats, Cache]:
        """The chunk's rows and the cache that holds it too."""
        self._check(cache)
        ids = check_tokens(tokens, self.vocab_size)  # (T,)
        check_fits(cache.length + len(ids), self.config)
        positions = cache.length + np.arange(len(ids))  # (T,)
        layers = []
        x = embed(self.weights, ids, positions)  # (T, width)
        for number, (layer, past) in enumerate(zip(self.weights.layers, cache.layers, strict=True)):
            normal = normalise(x, self.config)  # (T, width)
            query, key, value = self.project(normal, layer, positions)  # (H|G, T, D)
            layers.append(past.append(key, value, positions))  # (G, R+T, D) keys and values
            mask = self.mask(number, positions, layers[-1].positions)  # (T, R+T) or (H, T, R+T)
            mixed = self.attend(query, layers[-1], positions, mask)  # (H, T, D)
            x = self.finish(x, mixed, layer)  # (T, width)
        rows = self.read_out(x)  # (T, width) or (T, V)
        return rows, cache.commit(layers, len(ids), self.config)

    def project(
        self, x: Floats, layer: LayerWeights, positions: Ints
    ) -> tuple[Floats, Floats, Floats]:
        """Query (H, T, D); key and value (G, T, D) as the cache is to hold them."""
        return project(x, layer, self.config, positions, self._work)

    def mask(self, number: int, positions: Ints, keys: Ints) -> Bools:  # noqa: ARG002
        """The mask of layer ``number``: (T,), (S,) -> (T, S), or (H, T, S)."""
        return allowed(positions, keys, self.config.window, self.config.sinks)

    def scores(self, query: Floats, visible: LayerCache, positions: Ints) -> Floats:
        """(H, T, S), scaled and with the bias of positions, before the mask."""
        key = repeated(visible.key, len(query))  # (H, S, D)
        found = query @ key.transpose(0, 2, 1) / float(np.sqrt(query.shape[-1]))  # (H, T, S)
        return self.biased(found, visible, positions)

    def biased(self, scores: Floats, visible: LayerCache, positions: Ints) -> Floats:
        """``scores`` (H, T, S) with the bias of positions added."""
        bias = score_bias(self.config, positions, visible.positions)  # (H, T, S) or None
        return scores if bias is None else scores + bias.astype(scores.dtype)

    def weigh(self, scores: Floats, mask: Bools) -> Floats:
        """Probabilities (H, T, S)."""
        return softmax(np.where(mask, scores, -np.inf))

    def attend(self, query: Floats, visible: LayerCache, positions: Ints, mask: Bools) -> Floats:
        """The mixed values (H, T, D)."""
        probabilities = self.weigh(self.scores(query, visible, positions), mask)  # (H, T, S)
        return probabilities @ repeated(visible.value, len(query))  # (H, T, D)

    def finish(self, x: Floats, mixed: Floats, layer: LayerWeights) -> Floats:
        """The layer's output (T, width)."""
        return finish(x, mixed, layer, self.config)

    def read_out(self, x: Floats) -> Floats:
        """Rows (T, width) or (T, V)."""
        return read_out(x, self.weights)


class BothWays(OwnPass):
    """A decoder whose full pass is one call on an empty cache: both passes are changed alike."""

    def full(self, tokens: Any) -> Floats:
        """(T,) integers -> (T, width) or (T, V)."""
        return self.extend(tokens, self.new_cache())[0]


def repeated(array: Floats, heads: int) -> Floats:
    """Keys or values (G, S, D) for each of H query heads: (H, S, D)."""
    return np.repeat(array, heads // len(array), axis=0)
