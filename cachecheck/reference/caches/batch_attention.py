"""Ragged rows side by side: padding, the two masks, and attention with a batch axis.

The full pass finds its mask from where each row's pads end, the cached pass from positions: two
ways to the same mask, so that a mistake in one shows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cachecheck.reference.attention import softmax
from cachecheck.reference.caches.batch_cache import PAD
from cachecheck.reference.config import Config
from cachecheck.reference.layers import score_bias
from cachecheck.reference.masks import Bools
from cachecheck.reference.positions import Ints
from cachecheck.reference.weights import Floats


def left_pad(rows: Sequence[Ints], pad_token: int = 0) -> tuple[Ints, Ints]:
    """Ragged token rows as one array (B, T), padded in front, and the pads a row (B,)."""
    longest = max(len(row) for row in rows)
    pads = np.array([longest - len(row) for row in rows])  # (B,)
    tokens = np.full((len(rows), longest), pad_token)  # (B, T)
    for padded, row, pad in zip(tokens, rows, pads, strict=True):
        padded[pad:] = row
    return tokens, pads


def padded_positions(pads: Ints, columns: int, past: Ints) -> Ints:
    """Positions of left-padded rows that go on at ``past``: (B,), T, (B,) -> (B, T)."""
    real = np.arange(columns) - pads[:, None]  # (B, T), below 0 in the pads
    return np.where(real < 0, PAD, past[:, None] + real)  # (B, T)


def full_mask(pads: Ints, columns: int, config: Config) -> Bools:
    """The mask of a left-padded pass over whole sequences: (B,), T -> (B, T, T)."""
    causal = np.tri(columns, dtype=bool)  # (T, T), on and below the diagonal
    near = causal
    if config.window is not None:
        near = causal & ~np.tri(columns, k=-config.window, dtype=bool)  # (T, T)
    column = np.arange(columns)  # (T,)
    real = column >= pads[:, None]  # (B, T)
    sink = column < pads[:, None] + config.sinks  # (B, T), a row's first tokens, and its pads
    visible = (near | (causal & sink[:, None, :])) & real[:, None, :]  # (B, T, T)
    # A pad row would see nothing, and its softmax be NaN: it sees itself.
    return np.asarray(visible | (np.eye(columns, dtype=bool) & ~real[:, :, None]))


def cached_mask(query: Ints, key: Ints, config: Config) -> Bools:
    """The mask of new rows over retained columns, the chunk's own columns last.

    (B, T) and (B, R+T) positions, PAD where there is no token -> (B, T, R+T).
    """
    q, k = query[:, :, None], key[:, None, :]  # (B, T, 1), (B, 1, R+T)
    visible = (k != PAD) & (k <= q)  # (B, T, R+T)
    if config.window is not None:
        visible &= (k > q - config.window) | (k < config.sinks)
    past = key.shape[1] - query.shape[1]
    own = np.eye(query.shape[1], key.shape[1], k=past, dtype=bool)  # (T, R+T)
    # A pad row would see nothing, and its softmax be NaN: it sees its own column.
    return np.asarray(visible | (own & (q == PAD)))


def batch_bias(query: Ints, key: Ints, config: Config) -> Floats | None:
    """The bias that positions add to the scores: (B, T), (B, S) -> (B, H, T, S), or None.

    `score_bias` takes no batch, but depends on distances alone: it gets each distance as a
    position, measured from 0. Those of pads mean nothing, and the mask drops them.
    """
    distance = query[:, :, None] - key[:, None, :]  # (B, T, S)
    bias = score_bias(config, distance.reshape(-1), np.zeros(1, np.int64))  # (H, B*T*S, 1)
    if bias is None:
        return None
    return bias.reshape(config.heads, *distance.shape).transpose(1, 0, 2, 3)  # (B, H, T, S)


def batch_attention(
    query: Floats, key: Floats, value: Floats, mask: Bools, bias: Floats | None
) -> Floats:
    """Masked softmax attention, each row of the batch over its own keys.

    Args:
        query: (B, H, T, D).
        key: (B, G, S, D), G a divisor of H; query head h reads key head h // (H/G).
        value: (B, G, S, D).
        mask: (B, T, S), True where the row may see the key, and somewhere in each row.
        bias: added to the scaled scores, (B, H, T, S), or None.

    Returns:
        The mixed values (B, H, T, D).
    """
    group = query.shape[1] // key.shape[1]
    key = np.repeat(key, group, axis=1)  # (B, H, S, D)
    value = np.repeat(value, group, axis=1)  # (B, H, S, D)
    scores = query @ key.transpose(0, 1, 3, 2) / float(np.sqrt(query.shape[-1]))  # (B, H, T, S)
    if bias is not None:
        scores = scores + bias.astype(scores.dtype)  # (B, H, T, S)
    scores = np.where(mask[:, None], scores, -np.inf)  # (B, H, T, S)
    return np.asarray(softmax(scores) @ value)  # (B, H, T, D)
