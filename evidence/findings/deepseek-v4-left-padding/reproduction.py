"""DeepSeek V4 compresses left pads together with tokens. Exits 1 while it does."""

import sys

import torch
from transformers import DeepseekV4Config, DeepseekV4ForCausalLM

torch.manual_seed(0)
config = DeepseekV4Config(vocab_size=32, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
    head_dim=8, q_lora_rank=16, o_groups=2, o_lora_rank=8, moe_intermediate_size=32,
    index_n_heads=2, n_routed_experts=4, num_experts_per_tok=2, index_head_dim=8,
    layer_types=["compressed_sparse_attention"] * 2, mlp_layer_types=["moe"] * 2,
    initializer_range=0.2, bos_token_id=None, eos_token_id=None, pad_token_id=0)  # fmt: skip
model, ids = DeepseekV4ForCausalLM(config).eval(), torch.tensor([[0, 1, 2, 3, 4]])
options = {"max_new_tokens": 1, "do_sample": False, "output_logits": True,
    "return_dict_in_generate": True}  # fmt: skip
alone = model.generate(ids[:, 1:], attention_mask=torch.ones(1, 4), **options).logits[0]
padded = model.generate(ids, attention_mask=(ids > 0).float(), **options).logits[0]
off = (padded - alone).abs().max().item()
print(f"logits of the first new token with one pad in front: off by {off:.2g}")
sys.exit(1 if off > 1e-3 else 0)
