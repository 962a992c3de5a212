"""In float64 ProphetNet turns any mask of integers into NaN. Exits 1 while it does."""

import sys

import torch
from transformers import ProphetNetConfig, ProphetNetForCausalLM

torch.manual_seed(0)
config = ProphetNetConfig(vocab_size=32, hidden_size=32, num_decoder_layers=2, decoder_ffn_dim=64,
    num_decoder_attention_heads=4, init_std=0.2, is_decoder=True, is_encoder_decoder=False,
    add_cross_attention=False)  # fmt: skip
model, ids, wrong = ProphetNetForCausalLM(config).eval().double(), torch.tensor([[5, 6]]), 0
for kind in (None, torch.float64, torch.float32, torch.int64):
    mask = None if kind is None else torch.ones(1, 2, dtype=kind)  # nothing is hidden
    with torch.no_grad():
        nan = model(ids, attention_mask=mask).logits.isnan().all(-1)[0].tolist()
    print(f"a mask of ones, {kind}: rows that are NaN: {nan}")
    wrong += any(nan)
sys.exit(1 if wrong else 0)
