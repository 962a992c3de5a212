"""Tiny random Hugging Face models: their sizes as data, and how one is built.

Importing this loads nothing of the library. The models are small enough to build in milliseconds,
and shaped so that a mistake in the cache shows: a linear layer draws from N(0, 1 / width), so that
rows and attention scores are of order one and stay there. Measured over 5 seeds at 6 tokens, on
average: the largest logit is 3 to 4, the last row attends with 83 % and more of the largest
possible entropy (no softmax saturates), changing an earlier token moves that row by 0.7 to 1.9,
and swapping two earlier ones by 0.2 to 1.0. At the library's own scale of 0.02 a swap moves it by
0.005 to 0.01.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

WIDTH = 32

COMMON: Mapping[str, Any] = MappingProxyType(
    {
        "vocab_size": 32,
        "hidden_size": WIDTH,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": 64,
        "initializer_range": WIDTH**-0.5,
        # The defaults lie beyond 32 tokens, or make an ordinary token mean padding or an end.
        "bos_token_id": None,
        "eos_token_id": None,
        "pad_token_id": None,
    }
)
"""What every model shares, in the library's words."""

TINY: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        # rotary positions, fewer key/value heads than query heads
        "llama": {"intermediate_size": 64, "num_key_value_heads": 2},
        # learned positions: 64 and no more
        "gpt2": {},
        # a sliding window, small enough for short schedules to cross
        "mistral": {"intermediate_size": 64, "num_key_value_heads": 2, "sliding_window": 6},
        # sliding and full attention in turn, each with its own kind of cache; its own defaults of
        # 256 would make heads as wide and scores as small as in the full-size model
        "gemma2": {
            "intermediate_size": 64,
            "num_key_value_heads": 2,
            "head_dim": WIDTH // 4,
            "query_pre_attn_scalar": WIDTH // 4,
            "sliding_window": 6,
        },
        # biases on query, key and value
        "qwen2": {"intermediate_size": 64, "num_key_value_heads": 2},
        # attention and MLP in parallel, rotary positions on a part of each head
        "gpt_neox": {"intermediate_size": 64},
        # no positions but a penalty on distance (ALiBi)
        "bloom": {},
    }
)
"""Model type, as the library spells it -> what it has beyond `COMMON`."""


def tiny_model(name: str, seed: int, *, dtype: str = "float32") -> Any:
    """A random model of a type in `TINY`; the same seed gives the same weights.

    Nothing is downloaded. torch's global random state is as it was afterwards.

    Args:
        name: a key of `TINY`.
        seed: any integer torch accepts.
        dtype: name of the parameters' precision; the same float32 draws are rounded to it.
    """
    import torch  # noqa: PLC0415 - seconds to import, and an optional package
    from transformers import AutoConfig, AutoModelForCausalLM  # noqa: PLC0415 - likewise

    config = AutoConfig.for_model(name, **COMMON, **TINY[name])
    with torch.random.fork_rng(devices=[]):  # built on the CPU: no other generator is touched
        torch.manual_seed(seed)
        # Drawn in float32 whatever torch's default dtype is: a seed names one set of weights.
        model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    # Parameters only, as the library does when it loads: rotary frequencies stay in float32.
    for parameter in model.parameters():
        parameter.data = parameter.data.to(getattr(torch, dtype))
    return model
