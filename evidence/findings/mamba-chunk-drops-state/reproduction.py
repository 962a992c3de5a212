"""Mamba-1 layers forget their state when a call has two tokens. Exits 1 while they do."""

import sys

import torch
from transformers import AutoConfig, AutoModelForCausalLM, DynamicCache

worst, steps = 0.0, {"time_step_min": 0.1, "time_step_max": 1.0}  # large enough to be seen
jamba = {"attn_layer_period": 2, "attn_layer_offset": 1, "mamba_d_state": 8}
zamba = {"layers_block_type": ["mamba", "hybrid"] * 2, "mamba_d_state": 8}
options = {"max_new_tokens": 1, "output_logits": True, "return_dict_in_generate": True}
for name, own in {"mamba": steps, "falcon_mamba": steps, "jamba": jamba, "zamba": zamba}.items():
    torch.manual_seed(0)
    config = AutoConfig.for_model(name, vocab_size=32, hidden_size=32, intermediate_size=64,
        num_hidden_layers=4, initializer_range=0.2, pad_token_id=None, bos_token_id=None,
        eos_token_id=None, **own)  # fmt: skip
    model, ids = AutoModelForCausalLM.from_config(config).eval(), torch.tensor([[1, 2, 3, 4]])
    whole, cache = model.generate(ids, **options).logits[0], DynamicCache(config=config)
    model.generate(ids[:, :2], cache=cache, max_new_tokens=1)  # leaves the two tokens in the cache
    new = ids[:, 2:] if name.endswith("mamba") else ids  # without attention nothing tells a length
    off = (model.generate(new, cache=cache, **options).logits[0] - whole).abs().max().item()
    print(f"{name}: generate on a kept cache: off by {off:.2g}, of {whole.abs().max().item():.2g}")
    worst = max(worst, off)
sys.exit(1 if worst > 1e-3 else 0)
