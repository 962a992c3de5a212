"""Weights of a hybrid decoder: pairs of a recurrent block and an attention layer."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np

from cachecheck.reference.config import Config
from cachecheck.reference.weights import Floats, LayerWeights, Weights, draw_weights


@dataclass(frozen=True, eq=False)
class RecurrentWeights:
    """One recurrent block. Matrices act from the right; K is the width of the convolution."""

    inner: Floats  # (width, width), what the convolution reads
    kernel: Floats  # (K, width), row j weights the input j tokens back
    decay: Floats  # (width, width), how much of the state a token keeps
    gate: Floats  # (width, width), how much of the state a row shows
    output: Floats  # (width, width)

    @property
    def arrays(self) -> tuple[Floats, ...]:
        """All parameters, in a fixed order."""
        return (self.inner, self.kernel, self.decay, self.gate, self.output)


@dataclass(frozen=True, eq=False)
class HybridWeights:
    """All parameters of a hybrid decoder.

    Attributes:
        attention: embedding, attention layers, learned positions and head, as the reference has
            them; its configuration counts attention layers alone, half of L.
        layers: the L layers in order: recurrent, attention, recurrent, attention, ...
        kernel_width: K of every convolution.
        fingerprint: SHA-256 over all of it; a cache carries it, to be refused elsewhere.
    """

    attention: Weights
    layers: tuple[RecurrentWeights | LayerWeights, ...]
    kernel_width: int
    fingerprint: str = field(repr=False)

    @property
    def config(self) -> Config:
        """Of the attention layers; widths, window and the rest hold for the whole decoder."""
        return self.attention.config


def draw_hybrid_weights(config: Config, kernel_width: int, seed: int) -> HybridWeights:
    """Draw a recurrent block before each attention layer of ``config``.

    Raises:
        InputError: seed is not an integer >= 0.
    """
    attention = draw_weights(config, seed)
    # A third stream, beside the two of `draw_weights`: the attention layers keep their weights.
    rng = np.random.default_rng([seed, 3])
    digest = hashlib.sha256(f"{attention.fingerprint} {kernel_width}".encode())
    layers: list[RecurrentWeights | LayerWeights] = []
    for layer in attention.layers:
        block = _draw_block(rng, config, kernel_width)
        for array in block.arrays:
            digest.update(array.tobytes())
        layers += [block, layer]
    return HybridWeights(attention, tuple(layers), kernel_width, digest.hexdigest())


def _draw_block(rng: np.random.Generator, config: Config, kernel_width: int) -> RecurrentWeights:
    """Draw a recurrent block; scales keep entries of order one, so that every part matters."""
    width = config.width

    def normal(sd: float, *shape: int) -> Floats:
        array = rng.normal(0, sd, shape).astype(config.numpy_dtype)
        array.flags.writeable = False
        return array

    scale = 1 / np.sqrt(width)
    return RecurrentWeights(
        inner=normal(2 * scale, width, width),  # embeddings are small: entries near 0.3
        kernel=normal(1 / np.sqrt(kernel_width), kernel_width, width),
        decay=normal(scale, width, width),
        gate=normal(scale, width, width),
        output=normal(2 * scale, width, width),  # half of the state is lost to its gate
    )
