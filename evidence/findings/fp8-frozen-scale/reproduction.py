"""An 8-bit cache clips what is larger than the first call's entries. Exits 1 while it does."""

import sys

import torch
from transformers import LlamaConfig, QuantizedCache

cache = QuantizedCache("fp8", LlamaConfig(num_hidden_layers=1))
first, later = torch.full((1, 1, 1, 8), 1.0), torch.full((1, 1, 1, 8), 4.0)
cache.update(first, first, 0)
keys, _ = cache.update(later, later, 0)
kept = keys[0, 0, :, 0].tolist()
print(f"keys of {first.mean():g} and {later.mean():g} came back as {kept[0]:g} and {kept[1]:g}")
sys.exit(1 if kept[1] < 3.5 else 0)
