"""Immutable arrays, copied whenever something is appended: the reference decoder itself."""

from __future__ import annotations

from dataclasses import replace

from cachecheck.reference.config import Precision
from cachecheck.reference.decoder import ReferenceDecoder, config_of


def copying(seed: int, dtype: Precision | None = None) -> ReferenceDecoder:
    """The reference decoder of ``seed``: any configuration, float32 for some seeds."""
    config = config_of(seed)
    return ReferenceDecoder(replace(config, dtype=dtype or config.dtype), seed=seed)
