"""Hugging Face transformers: an adapter for its models, and tiny ones of every architecture.

Importing this costs nothing: torch and transformers come with what is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cachecheck.engines.hugging_face.decoder import HuggingFaceDecoder

__all__ = ["HuggingFaceDecoder"]


def __getattr__(name: str) -> Any:
    """Import the adapter when it is asked for."""
    if name == "HuggingFaceDecoder":
        return import_module("cachecheck.engines.hugging_face.decoder").HuggingFaceDecoder
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
