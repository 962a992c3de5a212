"""Checks that decoding with a KV cache gives the rows of one full pass.

The command line is ``cachecheck --help``; the strategies are `cachecheck.strategies`; the reference
decoder is `cachecheck.reference`; laws in a suite of your own are `parametrize_with_laws`. Nothing
is imported here but the error a decoder may raise to refuse, so that ``cachecheck --help`` stays
quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cachecheck.errors import CachecheckError, Unsupported

if TYPE_CHECKING:
    from cachecheck.session.parametrize import parametrize_with_laws

__version__ = "0.4.0"

__all__ = ["CachecheckError", "Unsupported", "__version__", "parametrize_with_laws"]


def __getattr__(name: str) -> Any:
    """Import what needs pytest and Hypothesis when it is asked for."""
    if name == "parametrize_with_laws":
        return import_module("cachecheck.session.parametrize").parametrize_with_laws
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
