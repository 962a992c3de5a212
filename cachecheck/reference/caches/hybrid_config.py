"""The configuration of the target ``hybrid``, drawn from its seed."""

from __future__ import annotations

import numpy as np

from cachecheck.reference.caches.random_configs import random_config
from cachecheck.reference.config import Config, Precision


def hybrid_config(seed: int, dtype: Precision = "float64") -> tuple[Config, int]:
    """Configuration and kernel width of ``seed``."""
    if seed == 0:
        return Config(vocab_size=16, width=8, layers=1, head_width=8, dtype=dtype), 3
    rng = np.random.default_rng([seed, 4])
    # At least 2: who declares a window of 1 says that no row sees the past, and the state does.
    config = random_config(rng, least_window=2, most_layers=2, dtype=dtype)
    return config, int(rng.integers(2, 5))
