"""What several tests share: comparisons, the smallest example of a strategy, a slow oracle."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.strategies import SearchStrategy
from numpy.typing import NDArray

from cachecheck.reference import Config, Weights
from cachecheck.reference.weights import LayerWeights

T = TypeVar("T")
Array = NDArray[Any]

TOLERANCE = 1e-12
"""Of the published experiment, for rows of order one in float64; measured there: 5.6e-16."""


def largest(got: Array, expected: Array) -> float:
    """The largest absolute difference of two arrays, which must have the same shape."""
    assert got.shape == expected.shape
    return float(np.abs(got.astype(np.float64) - expected.astype(np.float64)).max(initial=0.0))


def minimal(strategy: SearchStrategy[T], condition: Callable[[T], bool] = lambda _value: True) -> T:
    """What ``strategy`` shrinks to among the examples that satisfy ``condition``."""
    quiet = settings(
        max_examples=2000,
        database=None,
        derandomize=True,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    return find(strategy, condition, settings=quiet)


def slow_rows(weights: Weights, tokens: Any) -> Array:
    """The decoder once more, in plain loops over rows, heads and keys: an oracle for the oracle.

    Written from the description of the model; shares nothing with the reference but the weights.
    """
    config = weights.config
    hidden = [_input_row(weights, int(token), p) for p, token in enumerate(tokens)]
    for layer in weights.layers:
        normal = [_rms(row, config) for row in hidden]
        hidden = [_layer_row(hidden[p], p, normal, layer, config) for p in range(len(hidden))]
    if weights.head is not None:
        hidden = [_rms(row, config) @ weights.head for row in hidden]
    return np.stack(hidden)


def _layer_row(
    before: Array, p: int, normal: list[Array], layer: LayerWeights, config: Config
) -> Array:
    """What a layer makes of the row at position ``p``."""
    mixed = [_mixed(p, head, normal, layer, config) for head in range(config.heads)]
    update = np.concatenate(mixed)
    if layer.output is not None:
        update = update @ layer.output
    row = np.tanh(before + update)
    if layer.mlp_in is not None and layer.mlp_out is not None:
        row = np.tanh(row + np.tanh(_rms(row, config) @ layer.mlp_in) @ layer.mlp_out)
    return np.asarray(row)


def _mixed(p: int, head: int, normal: list[Array], layer: LayerWeights, config: Config) -> Array:
    """One head's mixture of the values that position ``p`` sees."""
    group = head // (config.heads // config.key_value_heads)
    width = config.head_width
    query = _head(normal[p] @ layer.query, head, p, config)
    seen = [k for k in range(p + 1) if _visible(k, p, config)]
    scores = []
    for k in seen:
        key = _head(normal[k] @ layer.key, group, k, config)
        score = sum(a * b for a, b in zip(query, key, strict=True)) / math.sqrt(width)
        if config.positions == "alibi":
            score -= 2 ** (-8 * (head + 1) / config.heads) * (p - k)
        scores.append(score)
    share = [math.exp(score - max(scores)) for score in scores]
    values = [(normal[k] @ layer.value)[group * width : (group + 1) * width] for k in seen]
    total = sum((s * v for s, v in zip(share, values, strict=True)), np.zeros(width))
    return np.asarray(total / math.fsum(share))


def _input_row(weights: Weights, token: int, p: int) -> Array:
    config = weights.config
    row = weights.embedding[token].astype(np.float64)
    if config.positions == "sinusoidal":
        for i in range(config.width // 2):
            angle = p / 10000 ** (2 * i / config.width)
            row[2 * i] += math.sin(angle)
            row[2 * i + 1] += math.cos(angle)
    if weights.positions is not None:
        row = row + weights.positions[p]
    return np.asarray(row)


def _head(flat: Array, head: int, p: int, config: Config) -> list[float]:
    width = config.head_width
    vector = [float(x) for x in flat[head * width : (head + 1) * width]]
    if config.positions != "rotary":
        return vector
    half = width // 2
    turned = vector[:]
    for i in range(half):
        angle = p / 10000 ** (2 * i / width)
        a, b = vector[i], vector[i + half]
        turned[i] = a * math.cos(angle) - b * math.sin(angle)
        turned[i + half] = a * math.sin(angle) + b * math.cos(angle)
    return turned


def _visible(key: int, query: int, config: Config) -> bool:
    if config.window is None:
        return True
    return query - key < config.window or key < config.sinks


def _rms(row: Array, config: Config) -> Array:
    if not config.normalise:
        return row
    return np.asarray(row / math.sqrt(float(np.mean(row * row)) + 1e-6))
