"""Checks that decoding with a KV cache gives the rows of one full pass.

The command line is ``cachecheck --help``; laws in a suite of your own are `parametrize_with_laws`,
in a notebook or a script `check_decoder`; the strategies are `cachecheck.strategies`; the reference
decoder is `cachecheck.reference`. Nothing is imported here but the error a decoder may raise to
refuse, so that ``cachecheck --help`` stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cachecheck.errors import CachecheckError, Unsupported

if TYPE_CHECKING:
    from cachecheck.search.check import check_decoder
    from cachecheck.session.parametrize import parametrize_with_laws

__version__ = "0.5.0"

__all__ = [
    "CachecheckError",
    "Unsupported",
    "__version__",
    "check_decoder",
    "parametrize_with_laws",
]

_IMPORTED_WHEN_ASKED_FOR = {
    "check_decoder": "cachecheck.search.check",
    "parametrize_with_laws": "cachecheck.session.parametrize",
}


def __getattr__(name: str) -> Any:
    """Import what needs numpy, pytest or Hypothesis when it is asked for."""
    if name in _IMPORTED_WHEN_ASKED_FOR:
        return getattr(import_module(_IMPORTED_WHEN_ASKED_FOR[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
