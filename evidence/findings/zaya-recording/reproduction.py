"""ZAYA fails over a cache that records its past. Exits 1 while it does."""

import sys

import torch
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM, ZayaConfig, ZayaForCausalLM

torch.manual_seed(0)
sizes = {"vocab_size": 32, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 8, "bos_token_id": None,
    "eos_token_id": None}  # fmt: skip
zaya = ZayaForCausalLM(ZayaConfig(num_experts=4, num_experts_per_tok=1, **sizes)).eval()
llama, ids, failed = LlamaForCausalLM(LlamaConfig(**sizes)).eval(), torch.arange(1, 7)[None], 0
cache = DynamicCache(config=zaya.config)
cache.activate_past_recording()
calls = [lambda at=at: zaya(ids[:, at : at + 1], cache=cache) for at in range(3)]
calls.append(lambda: llama.generate(ids, assistant_model=zaya, max_new_tokens=8))
for what, call in zip(("call 1", "call 2", "call 3", "assistant"), calls, strict=True):
    try:
        call()
    except RuntimeError as error:
        failed += 1
        print(f"{what}: {error}")
sys.exit(1 if failed else 0)
