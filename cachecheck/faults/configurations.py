"""Faults of the plain reference decoder: configurations in which a mistake can show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from cachecheck.faults.fault import Fault, Make
from cachecheck.reference.caches.random_configs import small_window
from cachecheck.reference.config import Config, Precision
from cachecheck.reference.decoder import CopyingStorage, ReferenceDecoder, config_of
from cachecheck.reference.mechanisms import Mechanisms
from cachecheck.reference.stored import StoredDecoder

ConfigChanges = Callable[[int, Config], dict[str, Any]]
"""A function from a seed and its configuration to the fields that are changed."""


def right_factory(changes: ConfigChanges) -> Make:
    """A factory of right decoders: the configuration of a seed, with ``changes``."""

    def right(seed: int, dtype: Precision = "float64") -> ReferenceDecoder:
        return ReferenceDecoder(changed_config(seed, dtype, changes), seed=seed)

    return right


def changed_config(seed: int, dtype: Precision, changes: ConfigChanges) -> Config:
    """The configuration of ``seed`` in ``dtype``, with ``changes``."""
    config = replace(config_of(seed), dtype=dtype)
    return replace(config, **changes(seed, config))


def wrong_factory(changes: ConfigChanges, mechanisms: Callable[[], Mechanisms]) -> Make:
    """A factory of such decoders with wrong mechanisms."""

    def make(seed: int, dtype: Precision = "float64") -> StoredDecoder[Any]:
        config = changed_config(seed, dtype, changes)
        return StoredDecoder(config, CopyingStorage, seed=seed, mechanisms=mechanisms())

    return make


def no_window(_seed: int, _config: Config) -> dict[str, Any]:
    """Rows see everything before them."""
    return {"window": None, "sinks": 0}


def with_window(seed: int, _config: Config) -> dict[str, Any]:
    """A window that is crossed early, and no sinks. At least 3, so that one less is one."""
    return {"window": max(3, small_window(seed)), "sinks": 0}


def with_input_positions(seed: int, config: Config) -> dict[str, Any]:
    """Positions that reach the inputs, and no window."""
    fits = config.positions in ("sinusoidal", "rotary")
    positions = config.positions if fits else ("sinusoidal", "rotary")[seed % 2]
    return {"positions": positions, **no_window(seed, config)}


def rotary(seed: int, config: Config) -> dict[str, Any]:
    """Rotary positions, two layers at least, and no window."""
    return {"positions": "rotary", "layers": max(2, config.layers), **no_window(seed, config)}


def alibi(seed: int, config: Config) -> dict[str, Any]:
    """ALiBi, and no window."""
    return {"positions": "alibi", **no_window(seed, config)}


def several_heads(seed: int, config: Config) -> dict[str, Any]:
    """At least two heads, and no window."""
    heads = max(2 * config.key_value_heads, config.heads)
    return {"heads": heads, **no_window(seed, config)}


def several_layers(seed: int, config: Config) -> dict[str, Any]:
    """At least two layers, and no window."""
    return {"layers": max(2, config.layers), **no_window(seed, config)}


def copying_fault(
    name: str,
    symptom: str,
    mechanisms: Callable[[], Mechanisms],
    *,
    kind: str,
    mechanism: str,
    reports: tuple[str, ...],
    smallest: str,
    changes: ConfigChanges = no_window,
    law: str = "schedule",
) -> Fault:
    """A fault of the plain reference decoder: wrong mechanisms in configurations that show them."""
    return Fault(
        id=f"copying-{name}",
        host="copying",
        kind=kind,
        mechanism=mechanism,
        symptom=symptom,
        law=law,
        reports=reports,
        make=wrong_factory(changes, mechanisms),
        right=right_factory(changes),
        smallest=smallest,
    )
