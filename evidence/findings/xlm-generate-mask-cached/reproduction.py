"""XLM's generate caches the mask token in place of what it generated. Exits 1 while it does."""

import sys

import torch
from transformers import XLMConfig, XLMWithLMHeadModel

torch.manual_seed(0)
config = XLMConfig(vocab_size=32, emb_dim=32, n_layers=2, n_heads=4, causal=True, n_langs=1,
    max_position_embeddings=64, init_std=0.2, embed_init_std=0.2, mask_token_id=3)  # fmt: skip
model, ids = XLMWithLMHeadModel(config).eval(), torch.tensor([[5, 6, 7, 8]])
options = {"max_new_tokens": 4, "do_sample": False, "output_logits": True,
    "return_dict_in_generate": True}  # fmt: skip
told = [9, 10, 11, 12]  # the same new tokens for both, so that they are asked about one text
options["prefix_allowed_tokens_fn"] = lambda _, text: [told[len(text) - 4]]
cached = model.generate(ids, **options).logits
plain = model.generate(ids, use_cache=False, **options).logits
off = [(a - b).abs().max().item() for a, b in zip(cached, plain, strict=True)]
print("logits of new tokens with and without a cache differ by", [f"{one:.2g}" for one in off])
sys.exit(1 if max(off) > 1e-3 else 0)
