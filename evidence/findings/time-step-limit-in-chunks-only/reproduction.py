"""Zamba2 limits its time steps in prompts, not in single tokens. Exits 1 while it does."""

import sys

import torch
from transformers import Zamba2Config, Zamba2ForCausalLM

torch.manual_seed(0)
config = Zamba2Config(vocab_size=32, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
    layers_block_type=["mamba", "hybrid"], intermediate_size=64, mamba_d_state=8, n_mamba_heads=4,
    time_step_min=0.1, time_step_max=1.0, initializer_range=0.2, pad_token_id=None)  # fmt: skip
model, ids = Zamba2ForCausalLM(config).eval(), torch.arange(12)[None]
with torch.no_grad():
    whole, cache = model(ids, use_cache=False).logits, None
    rows = []
    for at in range(12):
        outputs = model(ids[:, at : at + 1], cache=cache, use_cache=True)
        cache, rows = outputs.cache, [*rows, outputs.logits[0, 0]]
off = [(row - whole[0, at]).abs().max().item() for at, row in enumerate(rows)]
print("one token at a time, off by", " ".join(f"{one:.1g}" for one in off))
sys.exit(1 if max(off) > 1e-3 else 0)
