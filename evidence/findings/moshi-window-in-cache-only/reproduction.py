"""Moshi's full pass has no sliding window, its cache has one. Exits 1 while they differ."""

import sys

import torch
from transformers import DynamicCache, MoshiConfig, MoshiForCausalLM

torch.manual_seed(0)
config = MoshiConfig(vocab_size=32, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, ffn_dim=64, sliding_window=6, initializer_range=0.2,
    audio_vocab_size=8)  # fmt: skip
model, ids = MoshiForCausalLM(config).eval(), torch.arange(10)[None]
with torch.no_grad():
    whole, cache = model(ids, use_cache=False).logits, DynamicCache(config=config)
    rows = [model(ids[:, at : at + 1], cache=cache).logits[0, 0] for at in range(10)]
off = [(row - whole[0, at]).abs().max().item() for at, row in enumerate(rows)]
print("one token at a time, off by", " ".join(f"{one:.1g}" for one in off))
sys.exit(1 if max(off) > 1e-3 else 0)
