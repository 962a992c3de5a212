"""The first positions kept for ever and a ring for the window: a ring with slots for sinks."""

from __future__ import annotations

from cachecheck.reference.caches.random_configs import config_rng, small_config, small_window
from cachecheck.reference.caches.ring import RingCache, RingStorage
from cachecheck.reference.config import Precision
from cachecheck.reference.stored import InPlaceDecoder


def sinks(seed: int, dtype: Precision = "float64") -> InPlaceDecoder[RingCache]:
    """Rings of 2 to 6 slots behind 1 to 3 sinks."""
    count = 2 if seed == 0 else int(config_rng(seed).integers(1, 4))
    config = small_config(seed, dtype, window=small_window(seed), sinks=count)
    return InPlaceDecoder(config, RingStorage, seed=seed)
