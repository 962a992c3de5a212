"""Time steps are limited in prompts and not in single tokens. Exits 1 while they are."""

import sys

import torch
from transformers import AutoConfig, AutoModelForCausalLM

zamba = {"layers_block_type": ["mamba", "hybrid"], "n_mamba_heads": 4, "mamba_d_state": 8}
nemotron = {"layers_block_type": ["mamba", "attention"], "mamba_num_heads": 4, "mamba_head_dim": 16,
    "ssm_state_size": 8, "n_groups": 1, "num_key_value_heads": 2, "head_dim": 8}  # fmt: skip
worst = 0.0
for name, own in {"zamba2": zamba, "nemotron_h": nemotron}.items():
    torch.manual_seed(0)
    config = AutoConfig.for_model(name, vocab_size=32, hidden_size=32, num_attention_heads=4,
        num_hidden_layers=2, intermediate_size=64, time_step_min=0.1, time_step_max=1.0,
        initializer_range=0.2, pad_token_id=None, **own)  # fmt: skip
    model, ids = AutoModelForCausalLM.from_config(config).eval().double(), torch.arange(12)[None]
    with torch.no_grad():
        whole, cache = model(ids, use_cache=False).logits, model(ids[:, :11], use_cache=True).cache
        row = model(ids[:, 11:], cache=cache, use_cache=True).logits[0, 0]
    off = (row - whole[0, 11]).abs().max().item()
    print(f"{name}: the twelfth token after eleven cached ones is off by {off:.2g}")
    worst = max(worst, off)
sys.exit(1 if worst > 1e-3 else 0)
