"""ProphetNet gives tokens the position biases of other tokens. Exits 1 while it does."""

import sys

import torch
from transformers import ProphetNetConfig, ProphetNetForCausalLM

torch.manual_seed(0)
config = ProphetNetConfig(vocab_size=32, hidden_size=32, num_decoder_layers=2, decoder_ffn_dim=64,
    num_decoder_attention_heads=4, init_std=0.2, is_decoder=True, is_encoder_decoder=False,
    add_cross_attention=False)  # fmt: skip
model, ids = ProphetNetForCausalLM(config).eval(), torch.tensor([[5, 6, 7, 8]])
with torch.no_grad():
    whole, prefix = model(ids).logits[0], model(ids[:, :1], use_cache=True)
    rows, cache = [prefix.logits[0, 0]], prefix.cache
    for one in (6, 7, 8):
        rows += model(torch.tensor([[one]]), cache=cache, use_cache=True).logits[0]
off = (torch.stack(rows) - whole).abs().amax(-1).tolist()
print("one token at a time and one pass over four differ by", [f"{row:.2g}" for row in off])
sys.exit(1 if max(off) > 1e-3 else 0)
