"""generate over a static cache takes the window off Inkling's sliding layers. Exits 1 while so."""

import sys

import torch
from transformers import AutoConfig, AutoModelForCausalLM

worst, ids = 0.0, torch.arange(12)[None]
options = {"max_new_tokens": 1, "output_logits": True, "return_dict_in_generate": True}
for layers in (["hybrid_sliding", "hybrid_sliding"], ["hybrid_sliding", "hybrid"]):
    torch.manual_seed(0)
    config = AutoConfig.for_model("inkling_text", vocab_size=32, unpadded_vocab_size=32,
        hidden_size=32, intermediate_size=64, moe_intermediate_size=32, dense_intermediate_size=64,
        num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=8,
        swa_num_attention_heads=4, swa_num_key_value_heads=2, swa_head_dim=8, n_routed_experts=4,
        num_experts_per_tok=2, layer_types=layers, sliding_window_size=6,
        initializer_range=0.2, pad_token_id=None)  # fmt: skip
    model, found = AutoModelForCausalLM.from_config(config).eval(), []
    for length in (6, 12):
        got = model.generate(ids[:, :length], cache_implementation="static", **options).logits[0][0]
        found.append((got - model(ids[:, :length]).logits[0, -1]).abs().max().item())
    print(f"{layers}, window 6: prompts of 6 and 12: off by {found[0]:.2g} and {found[1]:.2g}")
    worst = max(worst, *found)
sys.exit(1 if worst > 1e-3 else 0)
