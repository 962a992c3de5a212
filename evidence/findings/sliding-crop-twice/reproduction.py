"""A recording cache past its window rolls back twice, and loses keys. Exits 1 while it does."""

import sys

import torch
from transformers import DynamicCache, MistralConfig, MistralForCausalLM

torch.manual_seed(0)
config = MistralConfig(vocab_size=32, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, intermediate_size=64, sliding_window=6,
    initializer_range=0.2)  # fmt: skip
model, ids, worst = MistralForCausalLM(config).eval(), torch.arange(10)[None], 0.0
for steps in ([-6], [-1, -3, -2]):  # the same six tokens taken back, at once and in three steps
    cache, asked = DynamicCache(config=config), []
    cache.activate_past_recording()
    with torch.no_grad():
        model(ids, cache=cache)
        for step in steps:
            asked.append(cache.is_croppable)
            cache.crop(step)
        off = model(ids[:, 4:5], cache=cache).logits[0, 0] - model(ids[:, :5]).logits[0, 4]
    worst = max(worst, off.abs().max().item())
    print(f"crop by {steps}, is_croppable {asked}: the next row is off by {off.abs().max():.2g}")
sys.exit(1 if worst > 1e-3 else 0)
