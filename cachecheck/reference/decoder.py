"""The reference behind the border: a decoder like anybody's, to be checked by the same laws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cachecheck.reference.cache import Cache, new_cache
from cachecheck.reference.config import FROZEN, Config
from cachecheck.reference.extend import extend
from cachecheck.reference.full import full
from cachecheck.reference.masks import MaskRule, offset_mask
from cachecheck.reference.weights import Floats, draw_weights


class ReferenceDecoder:
    """``vocab_size``, ``full``, ``new_cache`` and ``extend`` over one set of weights.

    Args:
        config: what the decoder is; the frozen model by default.
        seed: of its weights.
        mask_rule: of the cached path alone; a wrong mask makes a decoder that the laws must catch.
    """

    mutates_cache = False

    def __init__(
        self, config: Config = FROZEN, *, seed: int = 0, mask_rule: MaskRule = offset_mask
    ) -> None:
        self.config = config
        self.seed = seed
        self.weights = draw_weights(config, seed)
        self.mask_rule = mask_rule
        self.vocab_size = config.vocab_size
        self.window = config.window
        self.max_length = config.max_length
        self.dtype = config.dtype

    def __repr__(self) -> str:
        return f"ReferenceDecoder({self.config}, seed={self.seed})"

    def full(self, tokens: Any) -> Floats:
        """(T,) integers -> (T, width) or (T, V), no cache involved."""
        return full(self.weights, tokens).rows

    def new_cache(self) -> Cache:
        """The cache of no tokens."""
        return new_cache(self.weights)

    def extend(self, tokens: Any, cache: Cache) -> tuple[Floats, Cache]:
        """The chunk's rows (T, width) and the cache that holds it too."""
        trace, after = extend(self.weights, tokens, cache, mask_rule=self.mask_rule)
        return trace.rows, after

    def state(self, cache: Cache) -> list[Mapping[str, NDArray[Any]]]:
        """Per layer, the cached arrays by name."""
        return cache.state()


def reference(seed: int) -> ReferenceDecoder:
    """The target ``reference``: a decoder whose configuration follows from the seed as well.

    Seed 0 is the frozen model; every other seed draws layers, heads, positions, window and the
    rest, so that fuzzing this target walks through the configurations.
    """
    return ReferenceDecoder(config_of(seed), seed=seed)


def config_of(seed: int) -> Config:
    """The configuration that `reference` gives a seed."""
    if seed == 0:
        return FROZEN
    rng = np.random.default_rng([seed, 2])
    groups = int(rng.choice([1, 2]))
    positions = str(rng.choice(["sinusoidal", "rotary", "alibi", "learned", "none"]))
    window = int(rng.integers(1, 9)) if rng.random() < 0.5 else None
    return Config(
        vocab_size=int(rng.integers(2, 33)),
        width=int(rng.choice([8, 16])),
        layers=int(rng.integers(1, 4)),
        heads=groups * int(rng.choice([1, 2])),
        key_value_heads=groups,
        head_width=int(rng.choice([4, 8])),
        positions=positions,  # type: ignore[arg-type]  # one of the five just named
        window=window,
        sinks=int(rng.integers(0, 3)) if window is not None else 0,
        mlp_width=int(rng.choice([0, 12])),
        normalise=bool(rng.random() < 0.5),
        output="logits" if rng.random() < 0.5 else "hidden",
        dtype="float32" if rng.random() < 0.25 else "float64",
        max_length=64 if positions == "learned" else None,
    )
