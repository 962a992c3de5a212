"""ProphetNet ignores the attention mask of a call onto a cache. Exits 1 while it does."""

import sys

import torch
from transformers import ProphetNetConfig, ProphetNetForCausalLM

torch.manual_seed(0)
config = ProphetNetConfig(vocab_size=32, hidden_size=32, num_decoder_layers=2, decoder_ffn_dim=64,
    num_decoder_attention_heads=4, init_std=0.2, is_decoder=True, is_encoder_decoder=False,
    add_cross_attention=False)  # fmt: skip
model, ids, rows = ProphetNetForCausalLM(config).eval(), torch.tensor([[9, 5, 6]]), []
for first in (9, 10):  # a hidden token in front: what it is should not matter
    ids[0, 0], mask = first, torch.tensor([[0, 1, 1]])
    with torch.no_grad():
        prompt = model(ids[:, :2], attention_mask=mask[:, :2], use_cache=True)
        last = model(ids[:, 2:], attention_mask=mask, cache=prompt.cache, use_cache=True)
    rows.append((prompt.logits[0, 1], last.logits[0, 0]))
off = [(a - b).abs().max().item() for a, b in zip(*rows, strict=True)]
print(f"changing a hidden token moves the prompt's row by {off[0]:.2g}, the next by {off[1]:.2g}")
sys.exit(1 if off[1] > 1e-3 else 0)
