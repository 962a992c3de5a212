"""Adapters for other people's decoders, loaded on demand: importing this costs nothing.

Neither torch nor transformers is imported before a factory is asked for, so that a face can name
what is missing without them.
"""

from __future__ import annotations

import difflib
import importlib.util
from collections.abc import Callable

from cachecheck.errors import TargetError
from cachecheck.protocol import Decoder


def transformers_factory(name: str) -> Callable[[int], Decoder]:
    """The factory of a tiny random Hugging Face decoder: no download, weights drawn from the seed.

    Args:
        name: a model type of the library, and after a slash the variant to run it if it is not the
            usual one: ``llama``, ``gemma2/static``.

    Returns:
        A function from a seed to a decoder, whose cache is the library's own.

    Raises:
        TargetError: an unknown name, or torch or transformers cannot be used.
    """
    need_libraries(f"hf:{name}")
    # Seconds to import, and optional packages: only when a decoder is wanted.
    from cachecheck.engines.hugging_face.tiny import causal_classes  # noqa: PLC0415
    from cachecheck.engines.hugging_face.variants import VARIANTS  # noqa: PLC0415

    architecture, slash, variant = name.partition("/")
    known = causal_classes()
    if architecture not in known:
        near = difflib.get_close_matches(architecture, known)
        meant = (
            f"did you mean {', '.join(near)}? (for" if near else "expected one of its names (for"
        )
        raise TargetError(
            f"unknown Hugging Face model type {architecture!r}; {meant} a model of your own, wrap "
            "it in cachecheck.engines.hugging_face.decoder.HuggingFaceDecoder)"
        )
    if slash and variant not in VARIANTS:
        raise TargetError(
            f"unknown variant {variant!r} to run {architecture}; known: {', '.join(VARIANTS)}"
        )

    def make(seed: int) -> Decoder:
        return VARIANTS[variant or "dynamic"].decoder(architecture, seed)

    return make


def need_libraries(what: str) -> None:
    """Make sure that torch and transformers are there and can be imported.

    Raises:
        TargetError: ``what`` needs them, and they are not, or cannot.
    """
    needed = ("torch", "transformers")
    lacking = [name for name in needed if importlib.util.find_spec(name) is None]
    if lacking:
        raise TargetError(
            f"{what} needs {' and '.join(lacking)}, not installed here; "
            f"pip install {' '.join(lacking)}"
        )
    try:
        from cachecheck.engines.hugging_face import variants  # noqa: F401, PLC0415
    except ImportError as error:
        cause: BaseException = error
        while cause.__cause__ is not None:
            cause = cause.__cause__
        raise TargetError(
            f"{what} needs transformers, which is installed and fails to import: {cause}"
        ) from error
