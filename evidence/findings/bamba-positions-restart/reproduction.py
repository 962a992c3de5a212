"""Bamba counts a call's positions from 0 whatever the cache holds. Exits 1 while it does."""

import sys

import torch
from transformers import BambaConfig, BambaForCausalLM, DynamicCache

torch.manual_seed(0)
config = BambaConfig(vocab_size=32, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
    num_attention_heads=4, num_key_value_heads=2, attn_layer_indices=[1], mamba_n_heads=4,
    mamba_d_head=16, mamba_d_state=8, initializer_range=0.2, pad_token_id=None)  # fmt: skip
model, ids = BambaForCausalLM(config).eval(), torch.tensor([[1, 2, 3, 4]])
with torch.no_grad():
    whole, cache = model(ids).logits, DynamicCache(config=config)
    model(ids[:, :3], cache=cache)
    off = (model(ids[:, 3:], cache=cache).logits[0, 0] - whole[0, 3]).abs().max().item()
print(f"the fourth token's logits after three cached ones: off by {off:.2g}")
sys.exit(1 if off > 1e-3 else 0)
