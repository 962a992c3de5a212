"""Attention of new rows over keys and values, shapes on every line."""

from __future__ import annotations

import numpy as np

from cachecheck.reference.masks import Bools, check_rows_see_something
from cachecheck.reference.weights import Floats
from cachecheck.reference.work import Work


def softmax(scores: Floats) -> Floats:
    """Over the last axis, the row maximum subtracted first; -inf gives exactly zero."""
    shifted = scores - scores.max(axis=-1, keepdims=True)
    exponentials = np.exp(shifted)
    return np.asarray(exponentials / exponentials.sum(axis=-1, keepdims=True))


def attention(
    query: Floats,
    key: Floats,
    value: Floats,
    mask: Bools,
    *,
    bias: Floats | None = None,
    work: Work | None = None,
) -> tuple[Floats, Floats]:
    """Masked softmax attention, with key/value heads shared by groups of query heads.

    Args:
        query: (H, T, D).
        key: (G, S, D), G a divisor of H; query head h reads key head h // (H/G).
        value: (G, S, D).
        mask: (T, S), or (H, T, S) head by head: True where the row may see the key.
        bias: added to the scaled scores, (H, T, S), or None.
        work: score elements are counted here.

    Returns:
        The mixed values (H, T, D) and the probabilities (H, T, S).

    Raises:
        InputError: a row may see no key at all.
    """
    check_rows_see_something(mask)
    group = query.shape[0] // key.shape[0]
    key = np.repeat(key, group, axis=0)  # (H, S, D)
    value = np.repeat(value, group, axis=0)  # (H, S, D)
    scores = query @ key.transpose(0, 2, 1) / float(np.sqrt(query.shape[-1]))  # (H, T, S)
    if work is not None:
        work.score_elements += scores.size
    if bias is not None:
        scores = scores + bias.astype(scores.dtype)  # (H, T, S)
    scores = np.where(mask, scores, -np.inf)  # (H, T, S)
    probabilities = softmax(scores)  # (H, T, S)
    return probabilities @ value, probabilities  # (H, T, D), (H, T, S)
