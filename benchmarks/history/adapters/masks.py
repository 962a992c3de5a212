"""Chunks on a warm cache without a mask: GPT-2 and GPT-NeoX."""

from __future__ import annotations

from transformers import GPT2Config, GPT2LMHeadModel, GPTNeoXConfig, GPTNeoXForCausalLM

from benchmarks.history.adapters.plain import (
    ATTENTION,
    HEADS,
    LAYERS,
    SIZES,
    VOCABULARY,
    WIDTH,
    Plain,
)


def gpt2(seed: int) -> Plain:
    """GPT-2, with the attention it comes with."""
    sizes = {"n_layer": LAYERS, "n_embd": WIDTH, "n_head": HEADS, "n_positions": 128}
    config = GPT2Config(
        vocab_size=VOCABULARY,
        initializer_range=WIDTH**-0.5,
        bos_token_id=0,
        eos_token_id=0,
        **sizes,
    )
    return Plain(GPT2LMHeadModel, config, seed)


def gpt_neox(seed: int) -> Plain:
    """GPT-NeoX, the same."""
    sizes = {name: size for name, size in ATTENTION.items() if name != "num_key_value_heads"}
    return Plain(GPTNeoXForCausalLM, GPTNeoXConfig(**SIZES, **sizes), seed)
