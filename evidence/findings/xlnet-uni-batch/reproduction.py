"""XLNet with attn_type "uni" takes no mask for two sequences. Exits 1 while it does not."""

import sys

import torch
from transformers import XLNetConfig, XLNetLMHeadModel

torch.manual_seed(0)
ids, failed = torch.tensor([[5, 6, 7], [8, 9, 10]]), 0
for kind in ("bi", "uni"):
    config = XLNetConfig(vocab_size=32, d_model=32, n_layer=2, n_head=4, d_inner=64, attn_type=kind)
    try:
        with torch.no_grad():
            XLNetLMHeadModel(config).eval()(ids, attention_mask=torch.ones_like(ids))
        print(kind, "runs")
    except RuntimeError as error:
        failed += 1
        print(kind, "fails:", error)
sys.exit(1 if failed else 0)
