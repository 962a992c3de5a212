"""Mamba-1 layers forget their state when a call has two tokens. Exits 1 while they do."""

import sys

import torch
from transformers import AutoConfig, AutoModelForCausalLM, DynamicCache

worst, steps = 0.0, {"time_step_min": 0.1, "time_step_max": 1.0}  # large enough to be seen
jamba = {"attn_layer_period": 2, "attn_layer_offset": 1, "mamba_d_state": 8}
for name, own in {"mamba": steps, "falcon_mamba": steps, "jamba": jamba}.items():
    torch.manual_seed(0)
    config = AutoConfig.for_model(name, vocab_size=32, hidden_size=32, intermediate_size=64,
        num_hidden_layers=2, initializer_range=0.2, pad_token_id=None, **own)  # fmt: skip
    model, ids = AutoModelForCausalLM.from_config(config).eval(), torch.tensor([[1, 2, 3, 4]])
    with torch.no_grad():
        whole, cache = model(ids).logits, DynamicCache(config=config)
        model(ids[:, :2], cache=cache, use_cache=True)
        rows = model(ids[:, 2:], cache=cache, use_cache=True).logits
        off = ((rows - whole[:, 2:]).abs().max() / whole.abs().max()).item()
    print(f"{name}: two tokens after two cached ones are off by {off:.2g} of the largest logit")
    worst = max(worst, off)
sys.exit(1 if worst > 1e-3 else 0)
