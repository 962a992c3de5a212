"""A pretended engine, made of what an engine's folder has: decoders by name, a zoo, a ledger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cachecheck.engines.engine import Engine, Variant, Zoo
from cachecheck.errors import TargetError
from tests.decoders_for_tests import ForgetsOffset, RaisesOnThird, Sums

ARCHITECTURES = {"forgets": ForgetsOffset, "raises": RaisesOnThird, "sums": Sums}
VARIANTS = (
    Variant("plain", "as it is"),
    Variant("doubled", "with embeddings of twice the size", laws=("schedule",)),
)


def decoder_factory(name: str) -> Callable[[int], Any]:
    """``sums``, ``sums/doubled``."""
    architecture, _, variant = name.partition("/")
    if architecture not in ARCHITECTURES:
        raise TargetError(f"unknown name {architecture!r}; known: {', '.join(ARCHITECTURES)}")

    def make(seed: int) -> Any:
        decoder = ARCHITECTURES[architecture](seed)
        if variant == "doubled":
            decoder.embedding = decoder.embedding * 2
        return decoder

    return make


def zoo() -> Zoo:
    """All of it."""
    return Zoo(tuple(ARCHITECTURES), VARIANTS, packages=("numpy", "no-such-package"))


def zoo_without_variants() -> Zoo:
    """All of it, in the one variant that an engine has if it names none."""
    return Zoo(tuple(ARCHITECTURES))


PRETENDED = Engine(
    name="pretended",
    prefix="pretend",
    libraries=("numpy",),
    factory=f"{__name__}:decoder_factory",
    zoo=f"{__name__}:zoo",
    known_failures="tests:engine_for_tests.json",
)
