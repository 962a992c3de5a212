"""The parts of a layer that both paths share. Masks, in which they differ, are not here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cachecheck.reference.config import Config
from cachecheck.reference.positions import Ints, alibi_bias, rotate
from cachecheck.reference.weights import Floats, LayerWeights, Weights
from cachecheck.reference.work import Work


@dataclass(frozen=True, eq=False)
class Trace:
    """The results of a pass: everything that two ways of decoding are compared on."""

    rows: Floats  # (T, width) hidden states or (T, V) logits
    hidden: Floats  # (L, T, width), the representation after each layer
    probabilities: tuple[Floats, ...]  # per layer (H, T, S)


def normalise(x: Floats, config: Config) -> Floats:
    """Root-mean-square normalisation of each row, where the configuration asks for it."""
    if not config.normalise:
        return x
    mean_square = np.mean(x * x, axis=-1, keepdims=True)  # (T, 1)
    return np.asarray(x / np.sqrt(mean_square + x.dtype.type(1e-6)))  # (T, width)


def project(
    x: Floats, layer: LayerWeights, config: Config, positions: Ints, work: Work | None
) -> tuple[Floats, Floats, Floats]:
    """Query, key and value of each row, rotated if the positions are rotary.

    (T, width) -> (H, T, D), (G, T, D), (G, T, D).
    """

    def heads(matrix: Floats) -> Floats:
        if work is not None:
            work.projected_rows += len(x)
        flat = x @ matrix  # (T, heads*D)
        return flat.reshape(len(x), -1, config.head_width).transpose(1, 0, 2)  # (heads, T, D)

    query, key, value = heads(layer.query), heads(layer.key), heads(layer.value)
    if config.positions == "rotary":
        query, key = rotate(query, positions), rotate(key, positions)
    return query, key, value


def score_bias(config: Config, query_positions: Ints, key_positions: Ints) -> Floats | None:
    """The bias that positions add to the scores: ALiBi's penalty (H, T, S), else None."""
    if config.positions != "alibi":
        return None
    return alibi_bias(query_positions, key_positions, config.heads)


def finish(x: Floats, mixed: Floats, layer: LayerWeights, config: Config) -> Floats:
    """From the layer's input (T, width) and mixed values (H, T, D) to its output (T, width)."""
    update = mixed.transpose(1, 0, 2).reshape(len(x), -1)  # (T, H*D)
    if layer.output is not None:
        update = update @ layer.output  # (T, width)
    x = np.tanh(x + update)  # (T, width)
    if layer.mlp_in is not None and layer.mlp_out is not None:
        inner = np.tanh(normalise(x, config) @ layer.mlp_in)  # (T, mlp_width)
        x = np.tanh(x + inner @ layer.mlp_out)  # (T, width)
    return x


def read_out(x: Floats, weights: Weights) -> Floats:
    """Rows as the configuration promises them: hidden (T, width) or logits (T, V)."""
    if weights.head is None:
        return x
    return normalise(x, weights.config) @ weights.head  # (T, V)
