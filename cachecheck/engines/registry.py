"""Every engine that targets and zoos can name. Another one is a folder here and an entry below."""

from __future__ import annotations

from cachecheck.engines.engine import Engine
from cachecheck.errors import InputError

ENGINES: tuple[Engine, ...] = (
    Engine(
        name="transformers",
        prefix="hf",
        libraries=("torch", "transformers"),
        factory="cachecheck.engines.hugging_face.models:decoder_factory",
        zoo="cachecheck.engines.hugging_face.models:zoo",
        known_failures="cachecheck.engines.hugging_face:known_failures.json",
    ),
)


def engine_named(name: str) -> Engine:
    """The engine for a library.

    Raises:
        InputError: there is none.
    """
    for engine in ENGINES:
        if engine.name == name:
            return engine
    raise InputError(f"no engine {name!r}; known: {', '.join(one.name for one in ENGINES)}")


def engine_with_prefix(prefix: str) -> Engine | None:
    """The engine whose targets begin with ``prefix`` and a colon; None if there is none."""
    return next((engine for engine in ENGINES if engine.prefix == prefix), None)


def target_forms() -> str:
    """The forms of the engines' targets, for messages: ``hf:NAME``."""
    return " or ".join(f"{engine.prefix}:NAME" for engine in ENGINES)
