"""ProphetNet gives tokens the position biases of other tokens. Exits 1 while it does."""

import sys

import torch
from transformers import ProphetNetConfig, ProphetNetForCausalLM

worst, ids = 0.0, torch.tensor([[5, 6, 7, 8]])
for ngram in (1, 2):
    torch.manual_seed(0)
    config = ProphetNetConfig(vocab_size=32, hidden_size=32, num_decoder_layers=2, init_std=0.2,
        num_decoder_attention_heads=4, decoder_ffn_dim=64, is_decoder=True, ngram=ngram,
        is_encoder_decoder=False, add_cross_attention=False)  # fmt: skip
    model, rows, cache = ProphetNetForCausalLM(config).eval(), [], None
    with torch.no_grad():
        whole, changed = model(ids).logits[0], model(torch.tensor([[5, 6, 7, 9]])).logits[0]
        for one in (5, 6, 7, 8):
            step = model(torch.tensor([[one]]), cache=cache, use_cache=True)
            rows, cache = [*rows, step.logits[0, 0]], step.cache
    off, ahead = (torch.stack(rows) - whole).abs().max(), (changed - whole)[:3].abs().max()
    print(f"ngram {ngram}: one token at a time and one pass over four differ by {off:.2g}; "
          f"changing the fourth token moves rows before it by {ahead:.2g}")  # fmt: skip
    worst = max(worst, off.item(), ahead.item())
sys.exit(1 if worst > 1e-3 else 0)
