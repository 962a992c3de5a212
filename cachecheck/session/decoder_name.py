"""A decoder's name: in reports, and for ``cachecheck replay`` to load it by."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from cachecheck.replay.project import installed
from cachecheck.search.check import described


@dataclass(frozen=True)
class DecoderName:
    """A decoder's name.

    Attributes:
        shown: in reports.
        target: by which `load_target` gives this very decoder; None where no name leads to it.
    """

    shown: str
    target: str | None


def name_of(decoder: Any, module: ModuleType | None = None) -> DecoderName:
    """The name of a decoder, a factory of decoders, or a target that is named already.

    Args:
        decoder: what a test checks.
        module: of that test. A name at its top level will do for what has no name of its own: a
            decoder object, a partial, a lambda.
    """
    if isinstance(decoder, str):
        return DecoderName(decoder, decoder)
    shown = described(decoder)
    for place, name in _names(decoder, module):
        target = _target(place, name)
        if target is not None:
            return DecoderName(shown, target)
    return DecoderName(shown, None)


def _names(decoder: Any, module: ModuleType | None) -> Iterator[tuple[ModuleType, str]]:
    """Modules, and names at their top level that are bound to ``decoder`` itself."""
    own = getattr(decoder, "__qualname__", None)
    home = sys.modules.get(getattr(decoder, "__module__", None) or "")
    if own is not None and home is not None and vars(home).get(own) is decoder:
        yield home, own
    if module is not None:
        yield from ((module, name) for name, value in vars(module).items() if value is decoder)


def _target(module: ModuleType, name: str) -> str | None:
    """The name of a member of ``module`` for `load_target`; None where no file holds it.

    By the module where it belongs to a package, whose code may import its neighbours relatively;
    else by the file.
    """
    if getattr(module, "__file__", None) is None:
        return None
    file = Path(str(module.__file__)).resolve()
    if installed(file) or _importable(module, file):
        return f"{module.__name__}:{name}"
    return f"{file}:{name}"


def _importable(module: ModuleType, file: Path) -> bool:
    """True if it belongs to a package that is found on Python's path under its name."""
    inside = Path(*module.__name__.split("."))
    if len(inside.parts) < 2:
        return False
    found = (Path(entry or ".").resolve() / inside for entry in sys.path)
    return any(file in (one.with_suffix(".py"), one / "__init__.py") for one in found)
