"""Eager attention in float64 gives NaN for a padded row. Exits 1 while it does."""

import sys

import torch
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(0)
config = LlamaConfig(vocab_size=32, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=64, attn_implementation="eager")  # fmt: skip
model = LlamaForCausalLM(config).eval()
ids, mask = torch.tensor([[0, 1], [2, 3]]), torch.tensor([[0, 1], [1, 1]])  # one pad in front
for dtype in (torch.float32, torch.float64):
    with torch.no_grad():
        rows = model.to(dtype)(ids, attention_mask=mask).logits
    print(f"{dtype}: {int(rows[mask.bool()].isnan().sum())} NaN among the logits of real tokens")
sys.exit(1 if rows[mask.bool()].isnan().any() else 0)
