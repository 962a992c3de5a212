"""Immutable arrays, copied whenever something is appended: the reference decoder itself."""

from __future__ import annotations

from cachecheck.reference.decoder import ReferenceDecoder, config_of


def copying(seed: int) -> ReferenceDecoder:
    """The reference decoder of ``seed``: any configuration, float32 for some seeds."""
    return ReferenceDecoder(config_of(seed), seed=seed)
