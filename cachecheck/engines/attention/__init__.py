"""A decoder around any attention kernel: the kernel is the thing under test.

Importing this costs nothing: torch comes with what is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cachecheck.engines.attention.decoder import AttentionDecoder

__all__ = ["AttentionDecoder"]


def __getattr__(name: str) -> Any:
    """Import the adapter when it is asked for."""
    if name == "AttentionDecoder":
        return import_module("cachecheck.engines.attention.decoder").AttentionDecoder
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
