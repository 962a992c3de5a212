"""A bound on the error of an 8-bit cache's rows, from the weights alone."""

from __future__ import annotations

import numpy as np

from cachecheck.errors import InputError
from cachecheck.reference.layers import project
from cachecheck.reference.positions import Ints, embed
from cachecheck.reference.weights import Floats, Weights

LARGEST_CODE = 127  # of int8; -128 stays unused, so that codes are symmetric


def row_error_bound(weights: Weights) -> float:
    """A bound on every entry of every row, for any tokens and any cut into calls.

    One layer and a bounded length let us walk through all inputs that there are: each token at each
    position. They are exact (no cache is behind them), so queries, keys and values are too, up to:

    1. Rounding to codes moves an entry of a key or value by half a scale at most: max|x| / 254.
    2. A score q.k / sqrt(D) then moves by at most d = |q|_1 max|k| / 254 / sqrt(D).
    3. If scores move by at most d each, the probability of any set of keys moves by at most
       tanh(d / 2): it is a logistic function of the difference of two log-sums, which moves by at
       most 2d, and s(t + 2d) - s(t) is largest at t = -d.
    4. A row is tanh(x + sum over heads of sum p_i (v_i @ O)), O the head's rows of the output
       matrix. The change of v costs a column at most max|v| / 254 times the sum of its |O|. The
       change of p sums to zero, so it costs at most tanh(d / 2) times the range of v @ O there.
    5. tanh brings no two numbers further apart, and x is the same in both.

    An MLP, a read-out or another layer would multiply this by sums of absolute weights until it
    said nothing, so they are refused. Rounding of float64 is below 1e-12 here, and added.

    Measured over seeds 0 to 199 with 5 random sequences each: bounds of 0.003 to 0.21 (median
    0.021, a fifteenth of the rows' root mean square, at worst 0.4 of it), differences of 0.001 to
    0.010; the bound is 8 times the difference in the median and 1.6 times at the closest.

    Raises:
        InputError: a configuration that is not covered.
    """
    config = weights.config
    plain = config.layers == 1 and config.output == "hidden"
    if not plain or config.normalise or config.mlp_width or config.max_length is None:
        raise InputError(
            "the bound needs one layer, hidden rows, a max_length, no MLP and no normalisation"
        )
    layer = weights.layers[0]
    query, key, value = _all_projections(weights, np.arange(config.max_length))  # (H|G, N, D)
    group = config.heads // config.key_value_heads
    key, value = np.repeat(key, group, axis=0), np.repeat(value, group, axis=0)  # (H, N, D)
    norms = np.abs(query).sum(axis=-1).max(axis=-1)  # (H,), the largest |q|_1
    shift = np.tanh(norms * _half_step(key) / np.sqrt(config.head_width) / 2)  # (H,)
    output = np.eye(config.width) if layer.output is None else layer.output  # (H*D, width)
    output = output.reshape(config.heads, config.head_width, config.width)  # (H, D, width)
    updates = value @ output  # (H, N, width), what each token could add
    span = updates.max(axis=1) - updates.min(axis=1)  # (H, width)
    rounding = _half_step(value)[:, None] * np.abs(output).sum(axis=1)  # (H, width)
    error = (rounding + shift[:, None] * span).sum(axis=0)  # (width,)
    return float(error.max()) + 1e-12


def _half_step(array: Floats) -> Floats:
    """The largest rounding error of each head: (H, N, D) -> (H,)."""
    return np.asarray(np.abs(array).max(axis=(1, 2)) / (2 * LARGEST_CODE))


def _all_projections(weights: Weights, positions: Ints) -> tuple[Floats, Floats, Floats]:
    """Query, key and value of every token at every position: (H|G, N, D) each, N = M V."""
    tokens = np.tile(np.arange(weights.config.vocab_size), len(positions))  # (N,)
    token_positions = np.repeat(positions, weights.config.vocab_size)  # (N,)
    inputs = embed(weights, tokens, token_positions)  # (N, width)
    return project(inputs, weights.layers[0], weights.config, token_positions, None)
