"""RecurrentGemma keeps its state in the model and not in the cache. Exits 1 while it does."""

import sys

import torch
from transformers import DynamicCache, RecurrentGemmaConfig, RecurrentGemmaForCausalLM

torch.manual_seed(0)
config = RecurrentGemmaConfig(vocab_size=32, hidden_size=32, intermediate_size=64,
    num_hidden_layers=3, num_attention_heads=4, head_dim=8, lru_width=32, bos_token_id=None,
    w_init_variance_scale=1.0, pad_token_id=None, eos_token_id=None)  # fmt: skip
model, first = RecurrentGemmaForCausalLM(config).eval(), torch.tensor([[1, 2, 3, 4, 5]])
options = {"max_new_tokens": 1, "output_logits": True, "return_dict_in_generate": True}
with torch.no_grad():
    whole, mine = model(first, use_cache=False).logits[0], DynamicCache(config=config)
    model(first[:, :4], cache=mine, use_cache=True)
    model.generate(torch.tensor([[9, 8, 7]]), do_sample=False, **options)  # another sequence
    row = model(first[:, 4:], cache=mine, use_cache=True).logits[0, 0]
    alone = model.generate(first[:, :1], do_sample=False, **options).logits[0][0]
off = [(got - due).abs().max().item() for got, due in ((row, whole[4]), (alone, whole[0]))]
print(f"the fifth token, after another sequence was generated: off by {off[0]:.2g}")
print(f"generate on one token, after the others: off by {off[1]:.2g}, of {whole.abs().max():.2g}")
sys.exit(1 if max(off) > 1e-3 else 0)
