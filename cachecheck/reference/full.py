"""The full pass: every row at once, no cache anywhere. This is the oracle.

It builds its mask from a triangle, not from `masks.offset_mask`: two ways to the same mask, so
that a mistake in one shows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cachecheck.errors import InputError
from cachecheck.reference.attention import attention
from cachecheck.reference.checks import check_consecutive, check_fits, check_tokens
from cachecheck.reference.layers import Trace, finish, normalise, project, read_out, score_bias
from cachecheck.reference.masks import Bools
from cachecheck.reference.positions import embed
from cachecheck.reference.weights import Weights
from cachecheck.reference.work import Work


def triangle(length: int, first: int, window: int | None, sinks: int) -> Bools:
    """The square causal mask of positions first ... first+length-1: (T, T)."""
    visible = np.tri(length, dtype=bool)  # (T, T), on and below the diagonal
    if window is not None:
        visible &= ~np.tri(length, k=-window, dtype=bool)  # and fewer than `window` below it
        sink_count = max(0, min(length, sinks - first))  # sinks among these positions
        visible[:, :sink_count] |= np.tri(length, dtype=bool)[:, :sink_count]
    return visible


def full(
    weights: Weights,
    tokens: Any,
    *,
    positions: Any = None,
    causal: bool = True,
    work: Work | None = None,
) -> Trace:
    """One pass over all tokens.

    Args:
        weights: from `draw_weights`.
        tokens: (T,) integers in [0, V).
        positions: (T,) consecutive absolute positions; 0 ... T-1 when None.
        causal: False drops the mask altogether, the window included: a negative control.
        work: counts are added here.

    Returns:
        Rows, hidden states of each layer and attention probabilities.

    Raises:
        InputError: bad tokens, positions with gaps, or more tokens than ``max_length``.
    """
    config = weights.config
    ids = check_tokens(tokens, config.vocab_size)  # (T,)
    if positions is None:
        positions = np.arange(len(ids))
    positions = check_consecutive(positions, "positions")  # (T,)
    if len(positions) != len(ids):
        raise InputError(
            f"expected one position a token; got {len(positions)} for {len(ids)} tokens"
        )
    check_fits(int(positions[-1]) + 1, config)
    mask = np.ones((len(ids), len(ids)), bool)  # (T, T)
    if causal:
        mask = triangle(len(ids), int(positions[0]), config.window, config.sinks)  # (T, T)
    bias = score_bias(config, positions, positions)  # (H, T, T) or None
    hidden, probabilities = [], []
    with np.errstate(invalid="raise", over="raise", divide="raise"):
        x = embed(weights, ids, positions)  # (T, width)
        for layer in weights.layers:
            normal = normalise(x, config)  # (T, width)
            query, key, value = project(normal, layer, config, positions, work)  # (H|G, T, D)
            mixed, weighting = attention(query, key, value, mask, bias=bias, work=work)  # (H, T, D)
            x = finish(x, mixed, layer, config)  # (T, width)
            hidden.append(x)
            probabilities.append(weighting)  # (H, T, T)
        rows = read_out(x, weights)  # (T, width) or (T, V)
    return Trace(rows, np.stack(hidden), tuple(probabilities))
