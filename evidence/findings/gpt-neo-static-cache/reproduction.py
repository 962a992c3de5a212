"""GPT-Neo with a static cache gives other logits than with a growing one. Exits 1 while it does."""

import sys

import torch
from transformers import GPTNeoConfig, GPTNeoForCausalLM

ids, off = torch.arange(10)[None], {}
options = {"max_new_tokens": 4, "do_sample": False, "output_logits": True,
    "return_dict_in_generate": True}  # fmt: skip
for layer in ("global", "local"):
    torch.manual_seed(0)
    config = GPTNeoConfig(vocab_size=32, hidden_size=32, num_layers=2, num_heads=4, window_size=6,
        attention_types=[[[layer], 2]], intermediate_size=64, initializer_range=0.2,
        max_position_embeddings=64, bos_token_id=None, eos_token_id=None)  # fmt: skip
    model = GPTNeoForCausalLM(config).eval()
    found = [
        model.generate(ids, cache_implementation=kind, **options).logits[0]
        for kind in ("dynamic", "static")
    ]
    off[layer] = (found[0] - found[1]).abs().max().item()
    print(f"{layer} layers: first new token: dynamic and static caches differ by {off[layer]:.2g}")
sys.exit(1 if max(off.values()) > 1e-3 else 0)
