"""One pass over a padded batch, with or without columns of a cache in front."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cachecheck.reference.caches.batch_attention import batch_attention, batch_bias
from cachecheck.reference.caches.batch_cache import BatchCache
from cachecheck.reference.layers import finish, normalise, project, read_out
from cachecheck.reference.masks import Bools
from cachecheck.reference.positions import Ints, embed
from cachecheck.reference.weights import Floats, Weights
from cachecheck.reference.work import Work


@dataclass(frozen=True, eq=False)
class Columns:
    """Positions of queries and keys, PAD where there is no token, and the mask.

    R columns come from a cache, T are the pass's own.
    """

    query: Ints  # (B, T)
    key: Ints  # (B, R+T)
    mask: Bools  # (B, T, R+T)


def batch_pass(
    weights: Weights, ids: Ints, columns: Columns, past: BatchCache, work: Work | None
) -> tuple[Floats, tuple[Floats, ...], tuple[Floats, ...]]:
    """The rows of ``ids`` (B, T), those of pads included, and the keys and values behind ``past``.

    Rows are (B, T, width) or (B, T, V); keys and values (B, G, R+T, D), one of each a layer.
    """
    config, shape = weights.config, ids.shape
    # All but attention goes row by row, so that B and T can be one axis there. Pads count as
    # position 0, which every table of positions has.
    positions = np.maximum(columns.query, 0).reshape(-1)  # (B*T,)
    bias = batch_bias(columns.query, columns.key, config)  # (B, H, T, R+T) or None
    keys: list[Floats] = []
    values: list[Floats] = []

    def split(heads: Floats) -> Floats:
        """(H or G, B*T, D) -> (B, H or G, T, D)."""
        return heads.reshape(len(heads), *shape, -1).transpose(1, 0, 2, 3)

    with np.errstate(invalid="raise", over="raise", divide="raise"):
        x = embed(weights, ids.reshape(-1), positions)  # (B*T, width)
        for layer, old_key, old_value in zip(weights.layers, past.keys, past.values, strict=True):
            normal = normalise(x, config)  # (B*T, width)
            query, key, value = project(normal, layer, config, positions, work)  # (H|G, B*T, D)
            keys.append(np.concatenate([old_key, split(key)], axis=2))  # (B, G, R+T, D)
            values.append(np.concatenate([old_value, split(value)], axis=2))  # (B, G, R+T, D)
            mixed = batch_attention(
                split(query), keys[-1], values[-1], columns.mask, bias
            )  # (B, H, T, D)
            flat = mixed.transpose(1, 0, 2, 3).reshape(config.heads, len(x), -1)  # (H, B*T, D)
            x = finish(x, flat, layer, config)  # (B*T, width)
        rows = read_out(x, weights)  # (B*T, width) or (B*T, V)
    return rows.reshape(*shape, -1), tuple(keys), tuple(values)
