"""A fault in somebody else's library, and how it is put in and taken out again."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any
from unittest import mock

Wrong = Callable[[Any], Any]
"""From the library's own function to the wrong one that stands in for it."""

ROTARY = ("llama", "gemma2", "mistral", "qwen2", "phi", "qwen3_next")
WINDOWED = ("gemma2", "mistral")
RECURRENT = ("qwen3_next",)
ARCHITECTURES = ("llama", "gpt2", "gemma2", "mistral", "qwen2", "bloom", "phi", "qwen3_next")
"""Rotary, learned and linear-bias positions; windows in no layer, every other and all; recurrent
layers between others."""
FEW = ("llama", "mistral", "bloom", "qwen3_next")
"""For what takes 200 cases to find."""


@dataclass(frozen=True)
class EngineFault:
    """One mechanism of the library, replaced by a wrong one.

    Attributes:
        id: stable, in kebab-case.
        what: what is wrong, in a line.
        kind: in the field's terms, a key of `cachecheck.faults.kinds`.
        place: ``module:name`` in the library, or ``module:class.name``; the module ``modeling`` is
            the architecture's own, and a class may be a pattern.
        wrong: makes the replacement.
        variants: of an architecture, in which the mechanism is used; a comparison looks at these.
        architectures: that it is put into.
        law: that it breaks, where only one can see it; empty for any.
        missed: why the survey misses it, where it does, and what it would take.
    """

    id: str
    what: str
    kind: str
    place: str
    wrong: Wrong
    variants: tuple[str, ...] = ("dynamic",)
    architectures: tuple[str, ...] = ARCHITECTURES
    law: str = ""
    missed: str = ""

    def holders(self, architecture: str) -> list[tuple[Any, str]]:
        """The modules or classes in which the name is looked up, and the name in them."""
        where, _, path = self.place.partition(":")
        *owners, name = path.split(".")
        module = _modeling(architecture) if where == "modeling" else f"transformers.{where}"
        holders = [importlib.import_module(module)]
        for pattern in owners:
            holders = [
                value
                for holder in holders
                for key, value in vars(holder).items()
                if fnmatchcase(key, pattern)
            ]
        return [(holder, name) for holder in holders]


@contextmanager
def patched(fault: EngineFault | None, architecture: str) -> Iterator[None]:
    """The library with the fault in it, as it was before in the end; None changes nothing.

    Raises:
        LookupError: the library has no such place for this architecture.
    """
    with ExitStack() as stack:
        places = [] if fault is None else fault.holders(architecture)
        if fault is not None and not places:
            raise LookupError(f"{architecture} has no {fault.place}")
        for holder, name in places:
            assert fault is not None  # noqa: S101 - it has places
            wrong = fault.wrong(getattr(holder, name, None))
            stack.enter_context(mock.patch.object(holder, name, wrong, create=True))
        yield


def _modeling(architecture: str) -> str:
    transformers = importlib.import_module("transformers")
    names = importlib.import_module("cachecheck.engines.hugging_face.tiny").causal_classes()
    return str(getattr(transformers, names[architecture]).__module__)
