"""Eager attention in float64 gives NaN for a padded row. Exits 1 while it does."""

import sys

import torch
from transformers import AutoConfig, AutoModelForCausalLM

ids, mask = torch.tensor([[0, 1], [2, 3]]), torch.tensor([[0, 1], [1, 1]])  # one pad in front
wrong, sizes = 0, {"d_model": 32, "n_layers": 2, "n_heads": 4}
for name in ("llama", "bloom", "gemma2", "granite_swa", "mpt", "vaultgemma"):
    torch.manual_seed(0)
    config = AutoConfig.for_model(name, vocab_size=32, hidden_size=32, num_hidden_layers=2,
        num_attention_heads=4, intermediate_size=64, attn_implementation="eager", pad_token_id=0,
        **(sizes if name == "mpt" else {}))  # fmt: skip
    model, nan = AutoModelForCausalLM.from_config(config).eval(), []
    for dtype in (torch.float32, torch.float64):
        with torch.no_grad():
            rows = model.to(dtype)(ids, attention_mask=mask).logits
        nan.append(int(rows[mask.bool()].isnan().sum()))
    print(f"{name}: NaN among the logits of real tokens: {nan[0]} in float32, {nan[1]} in float64")
    wrong += nan[1]
sys.exit(1 if wrong else 0)
