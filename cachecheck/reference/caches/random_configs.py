"""Configurations drawn from a seed for the kinds of caches: those of `config_of`, kept small."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from cachecheck.reference.config import FROZEN, Config, Precision
from cachecheck.reference.decoder import config_of


def config_rng(seed: int) -> np.random.Generator:
    """A random generator whose draws do not change those of `config_of` and of the weights."""
    return np.random.default_rng([seed, 3])


def small_config(seed: int, dtype: Precision = "float64", **changes: Any) -> Config:
    """The configuration of ``seed`` with at most two layers, and ``changes``."""
    base = FROZEN if seed == 0 else config_of(seed)
    small: dict[str, Any] = {"layers": min(base.layers, 2), "dtype": dtype}
    return replace(base, **(small | changes))


def small_window(seed: int) -> int:
    """A window of 2 to 6, so that it is crossed early; 4 for seed 0."""
    return 4 if seed == 0 else int(config_rng(seed).integers(2, 7))


def random_config(
    rng: np.random.Generator, *, least_window: int, most_layers: int, dtype: Precision = "float64"
) -> Config:
    """A small configuration over all features."""
    positions = str(rng.choice(["sinusoidal", "rotary", "alibi", "learned", "none"]))
    window = int(rng.integers(least_window, 9)) if rng.random() < 0.5 else None
    groups = int(rng.choice([1, 2]))
    return Config(
        vocab_size=int(rng.integers(2, 33)),
        width=int(rng.choice([8, 16])),
        layers=int(rng.integers(1, most_layers + 1)),
        heads=groups * int(rng.choice([1, 2])),
        key_value_heads=groups,
        head_width=int(rng.choice([4, 8])),
        positions=positions,  # type: ignore[arg-type]  # one of the five just named
        window=window,
        sinks=int(rng.integers(0, 3)) if window is not None else 0,
        mlp_width=int(rng.choice([0, 12])),
        normalise=bool(rng.random() < 0.5),
        output="logits" if rng.random() < 0.5 else "hidden",
        dtype=dtype,
        max_length=64 if positions == "learned" else None,
    )
