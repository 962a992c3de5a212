"""A query of NaN gives rows of exact zeros while keys are few. Exits 1 while it does."""

# ruff: noqa: S101
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention as sdpa

print("torch", torch.__version__, torch.backends.cpu.get_cpu_capability())
query = torch.full((1, 1, 1, 8), torch.nan)
zeros = []
for keys in range(1, 33):
    key = torch.ones(1, 1, keys, 8)
    with sdpa_kernel(SDPBackend.MATH):
        assert sdpa(query, key, key).isnan().all()
    if not sdpa(query, key, key).any():
        zeros.append(keys)
print("NaN by MATH, zeros by default, with this many keys:", zeros)
sys.exit(1 if zeros else 0)
