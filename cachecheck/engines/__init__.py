"""Adapters for other people's decoders, loaded on demand: importing this costs nothing.

Neither torch nor transformers is imported before a factory is called, so that a face can name the
engines it knows and say what is missing without them.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

from cachecheck.engines.tiny import TINY, tiny_model
from cachecheck.errors import TargetError
from cachecheck.protocol import Decoder


def transformers_factory(name: str) -> Callable[[int], Decoder]:
    """The factory of a tiny random Hugging Face decoder: no download, weights drawn from the seed.

    Args:
        name: a model type of the library, one of `TINY`.

    Returns:
        A function from a seed to a decoder, whose cache is the library's own.

    Raises:
        TargetError: an unknown name, or torch or transformers is not installed.
    """
    if name not in TINY:
        raise TargetError(
            f"unknown Hugging Face model {name!r}; known are {', '.join(TINY)} (for a model of "
            "your own, wrap it in cachecheck.engines.hugging_face.HuggingFaceDecoder)"
        )
    lacking = [needed for needed in ("torch", "transformers") if not _installed(needed)]
    if lacking:
        raise TargetError(
            f"hf:{name} needs {' and '.join(lacking)}, not installed here; "
            f"pip install {' '.join(lacking)}"
        )

    def make(seed: int) -> Decoder:
        # Seconds to import, and optional packages: only when a decoder is wanted.
        from cachecheck.engines.hugging_face import HuggingFaceDecoder  # noqa: PLC0415

        return HuggingFaceDecoder(tiny_model(name, seed), threads=1)

    return make


def _installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None
