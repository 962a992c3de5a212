"""Inkling over a static cache counts each call's queries as its successors. Exits 1 while so."""

import sys

import torch
from transformers import AutoConfig, AutoModelForCausalLM, DynamicCache, StaticCache

torch.manual_seed(0)
config = AutoConfig.for_model("inkling_text", vocab_size=32, unpadded_vocab_size=32,
    hidden_size=32, intermediate_size=64, moe_intermediate_size=32, dense_intermediate_size=64,
    num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=8,
    swa_num_attention_heads=4, swa_num_key_value_heads=2, swa_head_dim=8, n_routed_experts=4,
    num_experts_per_tok=2, layer_types=["hybrid_sliding", "hybrid"], pad_token_id=None)  # fmt: skip
model, off = AutoModelForCausalLM.from_config(config).eval(), []
for weights in (one for one in model.parameters() if one.ndim > 1):
    weights.data.normal_(0.0, 0.2)  # trained profiles are not all alike
for cache in (DynamicCache(config=config), StaticCache(config=config, max_cache_len=16)):
    with torch.no_grad():
        rows = [model(torch.tensor([[at]]), cache=cache).logits[0, 0] for at in range(8)]
        off.append((torch.stack(rows) - model(torch.arange(8)[None]).logits[0]).abs().max().item())
print(f"one token at a time: off by {off[0]:.2g} over a dynamic cache, {off[1]:.2g} over a static")
sys.exit(1 if off[1] > 1e-4 else 0)
