"""A recording cache refuses prompts shorter than the convolution. Exits 1 while it does."""

import sys

import torch
from transformers import AutoConfig, AutoModelForCausalLM, DynamicCache

torch.manual_seed(0)
config = AutoConfig.for_model("kimi_linear", vocab_size=32, hidden_size=32, intermediate_size=64,
    moe_intermediate_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4,
    linear_num_heads=4, linear_head_dim=8, kv_lora_rank=16, qk_nope_head_dim=8, qk_rope_head_dim=4,
    v_head_dim=8, n_routed_experts=4, num_experts_per_tok=2, n_group=1, topk_group=1,
    layer_types=["linear_attention", "full_attention"], pad_token_id=None)  # fmt: skip
model, cache = AutoModelForCausalLM.from_config(config).eval(), DynamicCache(config=config)
cache.activate_past_recording()  # without it both calls are taken
try:
    for token in (1, 2):
        model(torch.tensor([[token]]), cache=cache)
except RuntimeError as error:
    print(f"two calls of one token: {error}")
    sys.exit(1)
print("two calls of one token are taken")
