"""The variants of one Hugging Face architecture: kinds of cache, of attention, of precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any

import torch
import transformers
from transformers import DynamicCache, QuantizedCache, StaticCache
from transformers.cache_utils import StaticLayer

from cachecheck.engines.engine import Variant
from cachecheck.engines.hugging_face.decoder import HuggingFaceDecoder
from cachecheck.engines.hugging_face.inspection import cache_argument, learned_positions
from cachecheck.engines.hugging_face.quantised import (
    Rounding,
    four_bits,
    rounding_bound,
    three_bit_mantissa,
)
from cachecheck.engines.hugging_face.tiny import POSITIONS, TOKENS, tiny_model
from cachecheck.errors import Unsupported

STATIC_LENGTH = 32
"""Slots of a static cache: windows of 6 are crossed, and a search runs into its end."""


@dataclass(frozen=True)
class ModelVariant(Variant):
    """One way to run an architecture of the library.

    Attributes:
        attention: the library's name of an attention function, None for its own choice.
        dtype: of the parameters.
        cache: from the model's text configuration to an empty cache; None for the usual one.
        rounding: of what the cache keeps, if that is of few bits; see `quantised`.
    """

    attention: str | None = None
    dtype: str = "float32"
    cache: Callable[[Any], Any] | None = None
    rounding: Rounding | None = None

    def decoder(self, architecture: str, seed: int) -> HuggingFaceDecoder:
        """A tiny random decoder of this architecture.

        Raises:
            TargetError: its forward pass takes no cache.
            Unsupported: it cannot be run in this variant.
        """
        model = tiny_model(architecture, seed, dtype=self.dtype, attention=self.attention)
        if self.attention and self.attention == _usual_attention(architecture):
            raise Unsupported(f"{self.attention} is its usual attention")
        config = model.config.get_text_config(decoder=True)
        room = POSITIONS if learned_positions(model, config) else None
        make = None if self.cache is None else self._maker(model, config)
        slots = None if make is None else _slots(make())
        atol = None
        if self.rounding is not None:
            atol = rounding_bound(model.eval(), cache_argument(model), self.rounding, TOKENS)
        made = HuggingFaceDecoder(
            model,
            vocab_size=TOKENS,
            max_length=min(filter(None, (room, slots)), default=None),
            atol=atol,
            threads=1,
            make_cache=make,
        )
        if self.cache is not None and self.id != "recording":
            made.state = None  # type: ignore[assignment,method-assign] # more than its filled part
        return made

    def _maker(self, model: Any, config: Any) -> Callable[[], Any]:
        if not model._supports_default_dynamic_cache():  # noqa: SLF001 - as generate asks
            raise Unsupported(f"{type(model).__name__} keeps a cache of its own kind alone")
        make = self.cache
        assert make is not None  # noqa: S101 - asked by the caller
        return lambda: make(config)


def _slots(cache: Any) -> int | None:
    """Tokens after which a cache is full, if a layer has room for so many and evicts none."""
    kept = (layer for layer in cache.layers if isinstance(layer, StaticLayer))
    return min((layer.max_cache_len for layer in kept if not layer.is_sliding), default=None)


@lru_cache
def _usual_attention(architecture: str) -> str:
    return str(tiny_model(architecture, 0).config._attn_implementation)  # noqa: SLF001


def silence_library() -> None:
    """Turn off the library's advice and progress bars, and torch's threads, in this process."""
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.set_num_threads(1)


def _static(config: Any) -> Any:
    return StaticCache(config=config, max_cache_len=STATIC_LENGTH)


def _recording(config: Any) -> Any:
    cache = DynamicCache(config=config)
    cache.activate_past_recording()
    return cache


def _fp8(config: Any) -> Any:
    return QuantizedCache("fp8", config)


def _four_bits(backend: str) -> Callable[[Any], Any]:
    # Groups within a head, whose smallest width is 4, and tokens in full that schedules go past.
    return partial(QuantizedCache, backend, nbits=4, q_group_size=4, residual_length=4)


_VARIANTS = (
    ModelVariant("dynamic", "a cache that grows, as generate makes it; float32"),
    ModelVariant(
        "eager", "attention in plain matrix products", attention="eager", laws=("schedule", "batch")
    ),
    ModelVariant(
        "float64",
        "parameters and rows in float64; the library keeps norms and angles in float32",
        dtype="float64",
        laws=("schedule", "batch"),
    ),
    ModelVariant(
        "recording",
        "a cache that can be rolled back, as assisted generation asks for it",
        cache=_recording,
        laws=("schedule", "crop"),
    ),
    ModelVariant(
        "static",
        f"buffers of {STATIC_LENGTH} slots",
        cache=_static,
        laws=("schedule", "overflow", "branch", "crop", "reset", "reorder"),
    ),
    ModelVariant(
        "fp8",
        "keys and values in 8-bit floats",
        cache=_fp8,
        rounding=three_bit_mantissa,
        laws=("schedule", "reorder"),
    ),
    ModelVariant(
        "quanto",
        "keys and values in 4 bits, the last 4 tokens in full; needs optimum-quanto",
        cache=_four_bits("quanto"),
        rounding=four_bits,
        laws=("schedule",),
    ),
    ModelVariant(
        "hqq",
        "the same by another backend; needs hqq",
        cache=_four_bits("hqq"),
        rounding=four_bits,
        laws=("schedule",),
    ),
)

VARIANTS: Mapping[str, ModelVariant] = MappingProxyType({one.id: one for one in _VARIANTS})
"""Every variant by its name, the usual one first."""
