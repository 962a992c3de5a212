"""Inkling over a static cache counts each call's queries as its successors. Exits 1 while so."""

import sys

import torch
from transformers import AutoConfig, AutoModelForCausalLM

worst, ids, kinds = 0.0, torch.arange(1, 6)[None], ("dynamic", "static")
options = {"max_new_tokens": 4, "output_logits": True, "return_dict_in_generate": True}
for layer in ("hybrid_sliding", "hybrid"):
    torch.manual_seed(0)
    config = AutoConfig.for_model("inkling_text", vocab_size=32, unpadded_vocab_size=32,
        hidden_size=32, intermediate_size=64, moe_intermediate_size=32, dense_intermediate_size=64,
        num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=8,
        swa_num_attention_heads=4, swa_num_key_value_heads=2, swa_head_dim=8, n_routed_experts=4,
        num_experts_per_tok=2, layer_types=[layer] * 2, pad_token_id=None)  # fmt: skip
    model = AutoModelForCausalLM.from_config(config).eval()
    for weights in (one for one in model.parameters() if one.ndim > 1):
        weights.data.normal_(0.0, 0.2)  # trained profiles are not all alike
    found = [model.generate(ids, cache_implementation=kind, **options).logits for kind in kinds]
    off = [(a - b).abs().max().item() for a, b in zip(*found, strict=True)]
    print(f"{layer}: generate, dynamic against static: off by", [f"{one:.2g}" for one in off])
    worst = max(worst, *off)
sys.exit(1 if worst > 1e-4 else 0)
