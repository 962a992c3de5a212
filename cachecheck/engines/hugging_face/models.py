"""The library's architectures by name: single decoders for targets, and all of them for a zoo."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from cachecheck.engines.engine import Zoo
from cachecheck.engines.hugging_face.tiny import causal_classes
from cachecheck.engines.hugging_face.variants import VARIANTS, silence_library
from cachecheck.errors import TargetError
from cachecheck.protocol import Decoder


def decoder_factory(name: str) -> Callable[[int], Decoder]:
    """The factory of a tiny random decoder: no download, weights drawn from the seed.

    Args:
        name: a model type of the library, and after a slash the variant if it is not the usual
            one: ``llama``, ``gemma2/static``.

    Returns:
        A function from a seed to a decoder, whose cache is the library's own.

    Raises:
        TargetError: an unknown name.
    """
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
            f"unknown variant {variant!r} of {architecture}; known: {', '.join(VARIANTS)}"
        )

    def make(seed: int) -> Decoder:
        return VARIANTS[variant or "dynamic"].decoder(architecture, seed)

    return make


def zoo() -> Zoo:
    """Every causal architecture of the installed release, in every variant."""
    return Zoo(
        architectures=tuple(sorted(causal_classes())),
        variants=tuple(VARIANTS.values()),
        packages=("torch", "transformers", "optimum-quanto", "hqq"),
        preload=(
            __name__,
            "transformers.generation.utils",
            "transformers.masking_utils",
            "transformers.modeling_utils",
        ),
        prepare=silence_library,
    )
