"""Kimi-Linear does not record single tokens in a recording cache. Exits 1 while so."""

import sys

import torch
from transformers import AutoConfig, AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

torch.manual_seed(0)
sizes = {"vocab_size": 32, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
    "intermediate_size": 64, "bos_token_id": None, "eos_token_id": None}  # fmt: skip
config = AutoConfig.for_model("kimi_linear", moe_intermediate_size=32, num_key_value_heads=4,
    linear_num_heads=4, linear_head_dim=8, kv_lora_rank=16, qk_nope_head_dim=8, qk_rope_head_dim=4,
    v_head_dim=8, n_routed_experts=4, num_experts_per_tok=2, n_group=1, topk_group=1,
    layer_types=["linear_attention", "full_attention"], pad_token_id=None, **sizes)  # fmt: skip
kimi, failed = AutoModelForCausalLM.from_config(config).eval(), 0
kimi.generation_config.assistant_confidence_threshold = 0.0  # drafts several tokens, as if sure
llama = LlamaForCausalLM(LlamaConfig(initializer_range=0.2, **sizes)).eval()
for length in (1, 6):
    try:
        llama.generate(torch.arange(1, 1 + length)[None], assistant_model=kimi, max_new_tokens=8)
    except RuntimeError as error:
        failed += 1
        print(f"Kimi-Linear as the assistant, a prompt of {length}: {error}")
sys.exit(1 if failed else 0)
