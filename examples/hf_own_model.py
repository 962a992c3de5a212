"""A Hugging Face model of your own, put to the test: five lines.

    cachecheck fuzz examples/hf_own_model.py:make

Replace the two middle lines by whatever makes your model; with trained weights,
`AutoModelForCausalLM.from_pretrained("folder")` under a factory without `seed`.
"""

from __future__ import annotations

import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from cachecheck.engines.hugging_face import HuggingFaceDecoder

SIZES = {"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8}


def make(seed: int) -> HuggingFaceDecoder:
    """A small random Qwen 3."""
    torch.manual_seed(seed)
    config = Qwen3Config(vocab_size=50, hidden_size=32, intermediate_size=64, **SIZES)
    config.initializer_range = 32**-0.5  # the library's 0.02 makes positions drown in a tiny model
    return HuggingFaceDecoder(Qwen3ForCausalLM(config), threads=1)  # threads: see its docstring
