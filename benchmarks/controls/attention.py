"""The same attention by other arithmetic: other orders of summation, other shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.controls.control import Control, factory_of
from benchmarks.controls.own_pass import OwnPass, repeated
from cachecheck.reference import Config, LayerCache
from cachecheck.reference.masks import Bools
from cachecheck.reference.positions import Ints
from cachecheck.reference.weights import Floats, LayerWeights


class NewestFirst(OwnPass):
    """Sums over keys in another order than the full pass."""

    def attend(self, query: Floats, visible: LayerCache, positions: Ints, mask: Bools) -> Floats:
        """The mixed values (H, T, D)."""
        probabilities = self.weigh(self.scores(query, visible, positions), mask)  # (H, T, S)
        order = self.order(len(visible.positions))  # (S,)
        value = repeated(visible.value, len(query))[:, order]  # (H, S, D)
        return probabilities[..., order] @ value  # (H, T, D)

    def order(self, count: int) -> Ints:
        """The order of ``count`` keys."""
        return np.arange(count)[::-1]


class AnyOrder(NewestFirst):
    """Sums in an order of its own at every call, as atomic additions on a GPU do."""

    def __init__(self, config: Config, *, seed: int) -> None:
        super().__init__(config, seed=seed)
        self.rng = np.random.default_rng(seed)

    def order(self, count: int) -> Ints:
        """Drawn anew at every call."""
        return self.rng.permutation(count)


class Blockwise(OwnPass):
    """A running softmax over blocks of keys: no row of probabilities is ever whole."""

    def attend(self, query: Floats, visible: LayerCache, positions: Ints, mask: Bools) -> Floats:
        """The mixed values (H, T, D)."""
        scores = np.where(mask, self.scores(query, visible, positions), -np.inf)  # (H, T, S)
        value = repeated(visible.value, len(query))  # (H, S, D)
        top = np.full_like(scores[..., :1], -np.inf)  # (H, T, 1), the maximum so far
        total = np.zeros_like(top)  # (H, T, 1)
        mixed = np.zeros_like(query)  # (H, T, D)
        for block in self.blocks(scores.shape[-1], len(positions)):
            part = scores[..., block]  # (H, T, block)
            higher = np.maximum(top, part.max(axis=-1, keepdims=True))  # (H, T, 1)
            # A row without any key so far has no maximum: any finite number will do.
            base = np.where(np.isfinite(higher), higher, higher.dtype.type(0))  # (H, T, 1)
            shrunk, weights = np.exp(top - base), np.exp(part - base)  # (H, T, 1), (H, T, block)
            total = total * shrunk + weights.sum(axis=-1, keepdims=True)  # (H, T, 1)
            mixed = mixed * shrunk + weights @ value[:, block]  # (H, T, D)
            top = higher
        return mixed / total  # (H, T, D)

    def blocks(self, keys: int, new: int) -> list[slice]:  # noqa: ARG002
        """The blocks of keys that are taken together."""
        return [slice(start, start + 3) for start in range(0, keys, 3)]


class SplitInTwo(Blockwise):
    """Past and chunk attended apart, and joined by their sums of exponentials."""

    def blocks(self, keys: int, new: int) -> list[slice]:
        """The past, if there is one, and the chunk."""
        past = keys - new
        return [slice(0, past), slice(past, keys)] if past else [slice(0, keys)]


class ScaledKeys(OwnPass):
    """The cache holds keys that are divided by the root of the head width already."""

    def project(
        self, x: Floats, layer: LayerWeights, positions: Ints
    ) -> tuple[Floats, Floats, Floats]:
        """Query (H, T, D), scaled key and value (G, T, D)."""
        query, key, value = super().project(x, layer, positions)
        return query, key / float(np.sqrt(key.shape[-1])), value

    def scores(self, query: Floats, visible: LayerCache, positions: Ints) -> Floats:
        """(H, T, S), without a scale."""
        key = repeated(visible.key, len(query))  # (H, S, D)
        return self.biased(query @ key.transpose(0, 2, 1), visible, positions)


class Grouped(OwnPass):
    """Query heads folded into groups instead of keys and values repeated."""

    def attend(self, query: Floats, visible: LayerCache, positions: Ints, mask: Bools) -> Floats:
        """The mixed values (H, T, D)."""
        groups = len(visible.key)
        folded = query.reshape(groups, -1, *query.shape[1:])  # (G, H/G, T, D)
        scale = float(np.sqrt(query.shape[-1]))
        scores = np.einsum("gntd,gsd->gnts", folded, visible.key) / scale  # (G, H/G, T, S)
        flat = scores.reshape(len(query), len(positions), -1)  # (H, T, S)
        weights = self.weigh(self.biased(flat, visible, positions), mask)  # (H, T, S)
        mixed = np.einsum("gnts,gsd->gntd", weights.reshape(scores.shape), visible.value)
        return np.asarray(mixed.reshape(query.shape))  # (H, T, D)


_GROUPED: dict[str, Any] = {"heads": 4, "key_value_heads": 2, "head_width": 4}

ATTENTION = (
    Control(
        "keys-newest-first",
        "Cached keys and values lie in the reverse order of the full pass.",
        "Attention is a sum over keys, and its order is rounding alone.",
        factory_of(NewestFirst),
    ),
    Control(
        "sums-in-any-order",
        "The same call gives other bits every time, as if something leaked from call to call.",
        "Sums in parallel are taken in no fixed order, which is rounding alone.",
        factory_of(AnyOrder),
    ),
    Control(
        "blockwise-softmax",
        "No softmax runs over all keys of a row: each block of three is normalised on its own.",
        "Each block is brought to the maximum so far, as in flash attention.",
        factory_of(Blockwise),
    ),
    Control(
        "past-and-chunk-apart",
        "The chunk attends to itself and, separately, to the cache.",
        "The two are joined in proportion to their sums of exponentials.",
        factory_of(SplitInTwo),
    ),
    Control(
        "scale-in-keys",
        "Scores are not divided by the root of the head width in the cached pass.",
        "The keys in the cache are divided by it already.",
        factory_of(ScaledKeys),
    ),
    Control(
        "groups-folded",
        "Four query heads meet two key heads that are never repeated.",
        "Query heads are folded into groups, and head h reads the same key head as before.",
        factory_of(Grouped, **_GROUPED),
    ),
)
