"""A sliding window in buffers of a fixed size, in chunks."""

from __future__ import annotations

from inspect import signature
from typing import Any

import torch
from transformers import MistralConfig, MistralForCausalLM, SlidingWindowCache

from benchmarks.history.adapters.plain import ATTENTION, SIZES, Plain, rows

LONGEST, WINDOW = 40, 6


class Sliding(Plain):
    """A `SlidingWindowCache`, with positions as ``generate`` hands them over.

    ``held`` counts the tokens. From 4.56 on the class is another name of `StaticCache`, which then
    makes windows of its own.
    """

    max_length = LONGEST
    window = WINDOW

    def new_cache(self) -> dict[str, Any]:
        """The cache and its count."""
        sizes = {"max_batch_size": 1, "max_cache_len": LONGEST}
        if "batch_size" in signature(SlidingWindowCache.__init__).parameters:  # its older name
            sizes["batch_size"] = sizes.pop("max_batch_size")
        cache = SlidingWindowCache(
            config=self.config, device=torch.device("cpu"), dtype=torch.float32, **sizes
        )
        return {"past_key_values": cache, "held": 0}

    def extend(self, tokens: Any, cache: dict[str, Any]) -> tuple[Any, Any]:
        """Tokens at the next positions."""
        held = cache["held"] + len(tokens)
        positions = torch.arange(cache["held"], held)
        past = cache["past_key_values"]
        outputs = self.call(tokens, past_key_values=past, cache_position=positions)
        return rows(outputs), {"past_key_values": past, "held": held}


def sliding(seed: int) -> Sliding:
    """Mistral with a window."""
    config = MistralConfig(**SIZES, **ATTENTION, sliding_window=WINDOW)
    return Sliding(MistralForCausalLM, config, seed)
