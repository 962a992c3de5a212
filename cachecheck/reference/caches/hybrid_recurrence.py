"""A recurrent block in two ways: the whole sequence in closed form, and a chunk after a state.

Both share the projections. The parts in which rows depend on earlier ones are written twice:
shifted copies and a matrix of decays against a carried tail and a loop.
"""

from __future__ import annotations

import numpy as np

from cachecheck.reference.caches.hybrid_cache import RecurrentState
from cachecheck.reference.caches.hybrid_weights import RecurrentWeights
from cachecheck.reference.config import Config
from cachecheck.reference.layers import normalise
from cachecheck.reference.weights import Floats
from cachecheck.reference.work import Work

# A token keeps sigmoid(1) = 0.73 of the state on average: it fades over a few tokens, not at once.
DECAY_OFFSET = 1.0


def sigmoid(x: Floats) -> Floats:
    """1 / (1 + e^-x) by its tanh form, which cannot overflow."""
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * x))


def block_whole(x: Floats, block: RecurrentWeights, config: Config) -> Floats:
    """The block over a whole sequence, no state involved: (T, width) -> (T, width)."""
    normal = normalise(x, config)  # (T, width)
    fresh = np.tanh(convolve_whole(normal @ block.inner, block.kernel))  # (T, width)
    strength = fresh @ block.decay + DECAY_OFFSET  # (T, width)
    state = recur_whole(strength, fresh)  # (T, width)
    return _block_output(x, normal, state, block)


def block_chunk(
    x: Floats, block: RecurrentWeights, config: Config, past: RecurrentState, work: Work
) -> tuple[Floats, RecurrentState]:
    """The block over T new tokens.

    Args:
        x: (T, width).
        block: the weights.
        config: says whether inputs are normalised.
        past: the state after the tokens before: a tail (K-1, width) and a carry (width,).
        work: rows multiplied are counted here.

    Returns:
        The new rows (T, width), and the state after them.
    """
    normal = normalise(x, config)  # (T, width)
    inner = np.concatenate([past.tail, normal @ block.inner])  # (K-1+T, width)
    windows = np.lib.stride_tricks.sliding_window_view(inner, len(block.kernel), axis=0)
    # windows is (T, width, K), oldest first; kernel row 0 is for the newest.
    fresh = np.tanh(np.einsum("twk,kw->tw", windows, block.kernel[::-1]))  # (T, width)
    keep = sigmoid(fresh @ block.decay + DECAY_OFFSET)  # (T, width), strictly within (0, 1)
    state = np.empty_like(fresh)  # (T, width)
    carry = past.carry  # (width,)
    for t in range(len(x)):
        carry = keep[t] * carry + (1 - keep[t]) * fresh[t]  # (width,)
        state[t] = carry
    work.projected_rows += 3 * len(x)  # inner, decay and gate
    after = RecurrentState(inner[len(x) :].copy(), carry)  # (K-1, width), (width,)
    return _block_output(x, normal, state, block), after


def convolve_whole(inner: Floats, kernel: Floats) -> Floats:
    """The causal depthwise convolution as a sum over shifted copies: (T, width) -> (T, width)."""
    total = np.zeros_like(inner)  # (T, width)
    for back, weight in enumerate(kernel[: len(inner)]):  # weight: (width,)
        total[back:] += inner[: len(inner) - back] * weight  # (T-back, width)
    return total


def recur_whole(strength: Floats, fresh: Floats) -> Floats:
    """h_t = a_t h_{t-1} + (1 - a_t) fresh_t with a = sigmoid(strength), by its closed form.

    h_t = sum over s <= t of (a_{s+1} ... a_t) (1 - a_s) fresh_s. Both are (T, width), as is h.

    Products are sums of logarithms. Each is summed over its own span: the difference of two sums
    from the start would lose digits where the sequence is long and the span short.
    """
    log_keep = -np.logaddexp(0, -strength)  # (T, width), below 0
    length = len(log_keep)
    later = np.tri(length, k=-1, dtype=bool)[:, :, None]  # (T, T, 1), s < t
    spans = np.cumsum(np.where(later, log_keep[:, None, :], 0), axis=0)  # (T, T, width), at most 0
    causal = np.tri(length, dtype=bool)[:, :, None]  # (T, T, 1), s <= t
    decays = np.where(causal, np.exp(spans), 0)  # (T, T, width), within [0, 1]
    added = sigmoid(-strength) * fresh  # (T, width)
    return np.asarray(np.einsum("tsw,sw->tw", decays, added))  # (T, width), |h| <= max |fresh| <= 1


def _block_output(x: Floats, normal: Floats, state: Floats, block: RecurrentWeights) -> Floats:
    """From the recurrence's states to the block's output, all (T, width)."""
    gated = sigmoid(normal @ block.gate) * state  # (T, width)
    return np.tanh(x + gated @ block.output)  # (T, width)
