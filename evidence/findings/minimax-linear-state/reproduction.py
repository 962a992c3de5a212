"""MiniMax's cache forgets its linear layers in reset and in beam search. Exits 1 while it does."""

import sys

import torch
from transformers import MiniMaxConfig, MiniMaxForCausalLM

torch.manual_seed(0)
config = MiniMaxConfig(vocab_size=32, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
    num_attention_heads=4, num_key_value_heads=2, head_dim=8, num_local_experts=2, block_size=4,
    initializer_range=0.2, bos_token_id=None, eos_token_id=None)  # fmt: skip
model, ids = MiniMaxForCausalLM(config).eval(), torch.tensor([[1, 2, 3], [7, 8, 9]])
with torch.no_grad():
    cache, whole = model(ids, use_cache=True).cache, model(ids).logits
    cache.reorder_cache(torch.tensor([1, 0]))  # as beam search does
    rows = model(torch.tensor([[4], [4]]), cache=cache).logits[:, 0]
    due = model(torch.tensor([[7, 8, 9, 4], [1, 2, 3, 4]])).logits[:, 3]
    cache.reset()
    again = model(ids, cache=cache).logits
beams, reset = (rows - due).abs().max().item(), (again - whole).abs().max().item()
print(f"after reorder_cache rows are off by {beams:.2g}, after reset by {reset:.2g}")
sys.exit(1 if max(beams, reset) > 1e-3 else 0)
