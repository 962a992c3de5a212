"""Configurations drawn from a seed for the kinds of caches: those of `config_of`, kept small."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from cachecheck.reference.config import FROZEN, Config
from cachecheck.reference.decoder import config_of


def generator(seed: int) -> np.random.Generator:
    """Draws that leave those of `config_of` and of the weights as they are."""
    return np.random.default_rng([seed, 3])


def drawn(seed: int, **changes: Any) -> Config:
    """The configuration of ``seed`` with at most two layers, in float64, and ``changes``."""
    base = FROZEN if seed == 0 else config_of(seed)
    small: dict[str, Any] = {"layers": min(base.layers, 2), "dtype": "float64"}
    return replace(base, **(small | changes))


def small_window(seed: int) -> int:
    """A window of 2 to 6, so that it is crossed early; 4 for seed 0."""
    return 4 if seed == 0 else int(generator(seed).integers(2, 7))
