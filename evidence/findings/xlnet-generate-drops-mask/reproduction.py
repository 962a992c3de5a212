"""XLNet's generate lets tokens attend to the pads in front. Exits 1 while it does."""

import sys

import torch
from transformers import XLNetConfig, XLNetLMHeadModel

torch.manual_seed(0)
config = XLNetConfig(vocab_size=32, d_model=32, n_layer=2, n_head=4, d_inner=64,
    initializer_range=0.2, bos_token_id=1, eos_token_id=None, pad_token_id=0)  # fmt: skip
model, ids = XLNetLMHeadModel(config).eval(), torch.tensor([[0, 0, 5, 6, 7]])
options = {"max_new_tokens": 1, "do_sample": False, "output_logits": True,
    "return_dict_in_generate": True}  # fmt: skip
padded = model.generate(ids, attention_mask=(ids > 0).long(), **options).logits[0]
alone = model.generate(ids[:, 2:], **options).logits[0]
off = (padded - alone).abs().max().item()
with torch.no_grad():
    forward = model(ids, attention_mask=(ids > 0).long()).logits[:, 2:] - model(ids[:, 2:]).logits
print(f"with two pads in front: generate is off by {off:.2g}, forward by {forward.abs().max():.2g}")
sys.exit(1 if off > 1e-3 else 0)
