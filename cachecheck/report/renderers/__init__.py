"""Reports as files: one module a format, named as the file's suffix, with a function `render`.

Another format is another module here, and nothing else: `render` takes a `Summary`, in which all
is decided, and gives the text.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from cachecheck.errors import InputError
from cachecheck.report.summary import Summary


def suffixes() -> list[str]:
    """The formats that there are, as suffixes of files."""
    return sorted(f".{module.name}" for module in pkgutil.iter_modules(__path__))


def renderer_for(file: Path) -> Callable[[Summary], str]:
    """The renderer of the format that the file's suffix names.

    Raises:
        InputError: there is none.
    """
    if file.suffix not in suffixes():
        raise InputError(
            f"cannot tell the format of {file}: expected a name that ends in "
            f"{', '.join(suffixes())}"
        )
    found: Callable[[Summary], str] = import_module(f"{__name__}.{file.suffix[1:]}").render
    return found
