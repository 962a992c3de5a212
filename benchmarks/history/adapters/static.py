"""A cache of a fixed size, and a key that is zero."""

from __future__ import annotations

from typing import Any

from transformers import LlamaConfig, LlamaForCausalLM, StaticCache

from benchmarks.history.adapters.plain import ATTENTION, SIZES, Plain

LONGEST = 40


class Static(Plain):
    """A `StaticCache` of `LONGEST` tokens."""

    max_length = LONGEST

    def new_cache(self) -> dict[str, Any]:
        """Room for all tokens, in buffers that calls write to."""
        return {"past_key_values": StaticCache(config=self.config, max_cache_len=LONGEST)}


def zero_key(seed: int) -> Static:
    """Llama with a padding token, whose embedding is zero, and so are its keys in layer 0."""
    return Static(LlamaForCausalLM, LlamaConfig(**SIZES, **ATTENTION, pad_token_id=0), seed)
