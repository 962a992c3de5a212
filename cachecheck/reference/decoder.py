"""The reference decoder behind the border: checked by the same laws as any other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cachecheck.reference.cache import Cache, LayerCache, LayerState, new_cache
from cachecheck.reference.config import FROZEN, Config
from cachecheck.reference.masks import MaskRule, offset_mask
from cachecheck.reference.mechanisms import Mechanisms
from cachecheck.reference.stored import StoredDecoder
from cachecheck.reference.weights import Weights


class CopyingStorage:
    """The storage of `ReferenceDecoder`: immutable arrays, copied whenever something is added."""

    cache_type = Cache
    evicts = True

    def __init__(self, weights: Weights) -> None:
        self.weights = weights

    def new(self) -> Cache:
        """Empty layers."""
        return new_cache(self.weights)

    def restore(self, layers: Sequence[LayerState], length: int, last_chunk: int) -> Cache:
        """The saved arrays as they are."""
        restored = tuple(
            LayerCache(one["key"], one["value"], one["positions"], length) for one in layers
        )
        return Cache(restored, length, last_chunk, self.weights.fingerprint)


class ReferenceDecoder(StoredDecoder[Cache]):
    """``vocab_size``, ``full``, ``new_cache`` and ``extend`` over one set of weights.

    Args:
        config: the decoder's shape and features; the frozen model by default.
        seed: of its weights.
        mask_rule: of the cached path alone; a wrong mask makes a decoder that the laws must catch.
    """

    def __init__(
        self, config: Config = FROZEN, *, seed: int = 0, mask_rule: MaskRule = offset_mask
    ) -> None:
        super().__init__(config, CopyingStorage, seed=seed, mechanisms=Mechanisms(mask_rule))


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
