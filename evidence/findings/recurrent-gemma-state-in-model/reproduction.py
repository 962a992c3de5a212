"""RecurrentGemma keeps its state in the model and not in the cache. Exits 1 while it does."""

import sys

import torch
from transformers import DynamicCache, RecurrentGemmaConfig, RecurrentGemmaForCausalLM

torch.manual_seed(0)
config = RecurrentGemmaConfig(vocab_size=32, hidden_size=32, intermediate_size=64,
    num_hidden_layers=3, num_attention_heads=4, head_dim=8, lru_width=32,
    w_init_variance_scale=1.0, pad_token_id=None)  # fmt: skip
model, first = RecurrentGemmaForCausalLM(config).eval(), torch.tensor([[1, 2, 3, 4, 5]])
with torch.no_grad():
    whole = model(first, use_cache=False).logits[0, 4]
    mine, yours = DynamicCache(config=config), DynamicCache(config=config)
    model(first[:, :4], cache=mine, use_cache=True)
    model(torch.tensor([[9, 8, 7]]), cache=yours, use_cache=True)  # another sequence
    row = model(first[:, 4:], cache=mine, use_cache=True).logits[0, 0]
off = ((row - whole).abs().max() / whole.abs().max()).item()
print(f"the fifth token, after another sequence was begun: off by {off:.2g} of the largest logit")
sys.exit(1 if off > 1e-3 else 0)
