"""The kinds of positions: added codes, rotation, or a bias on the scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cachecheck.reference.weights import Floats, Weights

Ints = NDArray[np.int64]
BASE = 10000.0  # of both sinusoidal and rotary angles, as published


def _angles(positions: Ints, pairs: int) -> Floats:
    """(T,) positions -> (T, pairs): p / BASE^(i / pairs), i = 0 ... pairs-1."""
    exponents = np.arange(pairs) / pairs  # (pairs,), the published 2i/d
    return positions[:, None] / BASE**exponents  # (T, pairs)


def sinusoidal(positions: Ints, width: int) -> Floats:
    """The additive code of absolute positions: (T,) -> (T, width), sine in the even columns."""
    angles = _angles(positions, width // 2)  # (T, width/2)
    code = np.empty((len(positions), width))  # (T, width)
    code[:, 0::2] = np.sin(angles)
    code[:, 1::2] = np.cos(angles)
    return code


def rotate(x: Floats, positions: Ints) -> Floats:
    """Rotary positions: turn the two halves of each head vector. (H, T, D), (T,) -> (H, T, D).

    Pairs column i with column i + D/2 (the "half split" convention). Scores then depend on the
    difference of two positions only.
    """
    half = x.shape[-1] // 2
    angles = _angles(positions, half).astype(x.dtype)  # (T, D/2)
    cos, sin = np.cos(angles), np.sin(angles)  # (T, D/2) each
    left, right = x[..., :half], x[..., half:]  # (H, T, D/2) each
    return np.concatenate([left * cos - right * sin, left * sin + right * cos], axis=-1)


def alibi_bias(query_positions: Ints, key_positions: Ints, heads: int) -> Floats:
    """ALiBi: a penalty linear in distance, one slope a head. (T,), (S,) -> (H, T, S).

    Slopes are 2^(-8h/H) for h = 1 ... H.
    """
    slopes = 2.0 ** (-8.0 * np.arange(1, heads + 1) / heads)  # (H,)
    distance = query_positions[:, None] - key_positions[None, :]  # (T, S)
    return -slopes[:, None, None] * distance  # (H, T, S)


def embed(weights: Weights, tokens: Ints, positions: Ints) -> Floats:
    """The first layer's input: embedding plus additive position code. (T,), (T,) -> (T, width)."""
    x = weights.embedding[tokens]  # (T, width)
    if weights.config.positions == "sinusoidal":
        code = sinusoidal(positions, weights.config.width)  # (T, width)
        return x + code.astype(x.dtype)
    if weights.positions is not None:
        return x + weights.positions[positions]
    return x
