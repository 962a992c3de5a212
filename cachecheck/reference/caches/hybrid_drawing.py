"""The configuration of the target ``hybrid``, drawn from its seed."""

from __future__ import annotations

import numpy as np

from cachecheck.reference.config import Config


def hybrid_config(seed: int) -> tuple[Config, int]:
    """Configuration and kernel width of ``seed``."""
    if seed == 0:
        return Config(vocab_size=16, width=8, layers=1, head_width=8), 3
    rng = np.random.default_rng([seed, 4])
    positions = str(rng.choice(["sinusoidal", "rotary", "alibi", "learned", "none"]))
    # At least 2: who declares a window of 1 says that no row sees the past, and the state does.
    window = int(rng.integers(2, 9)) if rng.random() < 0.5 else None
    groups = int(rng.choice([1, 2]))
    config = Config(
        vocab_size=int(rng.integers(2, 33)),
        width=int(rng.choice([8, 16])),
        layers=int(rng.integers(1, 3)),
        heads=groups * int(rng.choice([1, 2])),
        key_value_heads=groups,
        head_width=int(rng.choice([4, 8])),
        positions=positions,  # type: ignore[arg-type]  # one of the five just named
        window=window,
        sinks=int(rng.integers(0, 3)) if window is not None else 0,
        mlp_width=int(rng.choice([0, 12])),
        normalise=bool(rng.random() < 0.5),
        output="logits" if rng.random() < 0.5 else "hidden",
        max_length=64 if positions == "learned" else None,
    )
    return config, int(rng.integers(2, 5))
