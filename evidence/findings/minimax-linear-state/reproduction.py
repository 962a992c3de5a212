"""MiniMax's cache forgets its linear layers in reset and in beam search. Exits 1 while it does."""

import sys

import torch
from transformers import MiniMaxConfig, MiniMaxForCausalLM

torch.manual_seed(0)
config = MiniMaxConfig(vocab_size=32, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
    num_attention_heads=4, num_key_value_heads=2, head_dim=8, num_local_experts=2, block_size=4,
    initializer_range=0.2, bos_token_id=None, eos_token_id=None)  # fmt: skip
model, ids = MiniMaxForCausalLM(config).eval(), torch.tensor([[1, 2, 3, 4]])
options = {"max_new_tokens": 6, "num_beams": 4, "do_sample": False, "output_scores": True,
    "return_dict_in_generate": True}  # fmt: skip
score = [model.generate(ids, use_cache=use, **options).sequences_scores.item() for use in (1, 0)]
print(f"beam search scores its best text {score[0]:.4f} with a cache, {score[1]:.4f} without")
with torch.no_grad():
    first = model(ids, use_cache=True)
    first.cache.reset()
    reset = (model(ids, cache=first.cache).logits - first.logits).abs().max().item()
print(f"the same tokens after reset: off by {reset:.2g}")
sys.exit(1 if max(abs(score[0] - score[1]), reset) > 1e-3 else 0)
