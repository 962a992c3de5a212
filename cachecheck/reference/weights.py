"""Weights of a reference decoder, drawn from a seed.

The frozen model's draws come first and in the published order (embedding; then query, key and
value of each layer), so that every configuration with its sizes shares its exact weights. Parts
that the frozen model lacks are drawn from a second stream: switching an MLP on changes no others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cachecheck.errors import InputError
from cachecheck.reference.config import Config

Floats = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class LayerWeights:
    """One layer. Matrices act from the right: ``x @ matrix``."""

    query: Floats  # (width, H*D)
    key: Floats  # (width, G*D)
    value: Floats  # (width, G*D)
    output: Floats | None  # (H*D, width); None in the frozen model, whose single head is the row
    mlp_in: Floats | None  # (width, mlp_width)
    mlp_out: Floats | None  # (mlp_width, width)


@dataclass(frozen=True, eq=False)
class Weights:
    """All of a decoder's parameters, with the configuration they belong to."""

    config: Config
    embedding: Floats  # (V, width)
    layers: tuple[LayerWeights, ...]
    positions: Floats | None  # (max_length, width), learned positions only
    head: Floats | None  # (width, V), logits only
    fingerprint: str = field(repr=False)
    """SHA-256 over configuration and parameters; a cache carries it, to be refused elsewhere."""


def draw_weights(config: Config, seed: int) -> Weights:
    """Draw the weights of ``config`` from ``seed``.

    Scales keep every part alive: entries of order one in each hidden row, attention scores of
    order one, so that no softmax saturates and no head or position drowns.

    Raises:
        InputError: seed is not an integer >= 0.
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"a seed must be an integer >= 0; got {seed!r}")
    frozen = np.random.default_rng(seed)
    extra = np.random.default_rng([seed, 1])
    dtype = config.numpy_dtype
    scale = 1 / np.sqrt(config.width)  # 0.25 for the frozen width of 16

    def normal(rng: np.random.Generator, sd: float, *shape: int) -> Floats:
        array = rng.normal(0, sd, shape).astype(dtype)
        array.flags.writeable = False
        return array

    embedding = normal(frozen, 0.3, config.vocab_size, config.width)
    layers = tuple(_draw_layer(config, frozen, extra, scale, normal) for _ in range(config.layers))
    positions = head = None
    if config.positions == "learned":
        assert config.max_length is not None  # noqa: S101 - Config has checked it
        positions = normal(extra, 0.5, config.max_length, config.width)
    if config.output == "logits":
        head = normal(extra, scale, config.width, config.vocab_size)
    arrays = [embedding, positions, head]
    for one in layers:
        arrays += [one.query, one.key, one.value, one.output, one.mlp_in, one.mlp_out]
    fingerprint = _fingerprint(config, arrays)
    return Weights(config, embedding, layers, positions, head, fingerprint)


def _draw_layer(
    config: Config,
    frozen: np.random.Generator,
    extra: np.random.Generator,
    scale: float,
    normal: Callable[..., Floats],
) -> LayerWeights:
    query_width = config.heads * config.head_width
    cached_width = config.key_value_heads * config.head_width
    query = normal(frozen, scale, config.width, query_width)
    key = normal(frozen, scale, config.width, cached_width)
    value = normal(frozen, scale, config.width, cached_width)
    output = mlp_in = mlp_out = None
    if config.heads > 1 or query_width != config.width:
        output = normal(extra, 1 / np.sqrt(query_width), query_width, config.width)
    if config.mlp_width:
        mlp_in = normal(extra, scale, config.width, config.mlp_width)
        mlp_out = normal(extra, 1 / np.sqrt(config.mlp_width), config.mlp_width, config.width)
    return LayerWeights(query, key, value, output, mlp_in, mlp_out)


def _fingerprint(config: Config, arrays: list[Floats | None]) -> str:
    digest = hashlib.sha256(repr(config).encode())
    for array in arrays:
        digest.update(b"-" if array is None else array.tobytes())
    return digest.hexdigest()
