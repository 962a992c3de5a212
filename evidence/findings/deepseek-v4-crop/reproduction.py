"""DeepSeek V4's cache says that it can be cropped, and keeps what was cropped. Exits 1 while so."""

import sys

import torch
from transformers import DeepseekV4Config, DeepseekV4ForCausalLM, DynamicCache

torch.manual_seed(0)
config = DeepseekV4Config(vocab_size=32, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
    head_dim=8, q_lora_rank=16, o_groups=2, o_lora_rank=8, moe_intermediate_size=32,
    index_n_heads=2, n_routed_experts=4, num_experts_per_tok=2, index_head_dim=8,
    layer_types=["compressed_sparse_attention"] * 2, mlp_layer_types=["moe"] * 2,
    initializer_range=0.2)  # fmt: skip
model, ids = DeepseekV4ForCausalLM(config).eval(), torch.tensor([[1, 2, 3, 4]])
with torch.no_grad():
    whole, cache = model(ids).logits, DynamicCache(config=config)
    model(torch.tensor([[1, 9]]), cache=cache)
    print("is_croppable:", cache.is_croppable)
    if not cache.is_croppable:
        sys.exit(0)
    cache.crop(-1)
    off = (model(ids[:, 1:], cache=cache).logits - whole[:, 1:]).abs().amax(-1)[0]
print("rows after rolling one token back are off by", [f"{row:.2g}" for row in off.tolist()])
sys.exit(1 if off.max() > 1e-3 else 0)
