"""An 8-bit cache clips what is larger than the first call's entries. Exits 1 while it does."""

import sys

import torch
from transformers import LlamaConfig, QuantizedCache

config = LlamaConfig(num_hidden_layers=1)
one, four, small = (torch.full((1, 1, 1, 8), entry) for entry in (1.0, 4.0, 0.013))
cache = QuantizedCache("fp8", config)
cache.update(one, one, 0)
kept = cache.update(four, four, 0)[0][0, 0, :, 0].tolist()
print(f"keys of 1 and 4 came back as {kept[0]:g} and {kept[1]:g}")
for rows in (small, torch.cat([small, torch.full_like(small, 100.0)])):
    cache = QuantizedCache("fp8", config)
    cache.update(rows, rows, 0)
    back = cache.update(rows, rows, 0)[0][0, 0, 0, 0].item()
    print(f"a key of 0.013 in a batch of {len(rows)} came back as {back:.5f}")
sys.exit(1 if kept[1] < 3.5 else 0)
