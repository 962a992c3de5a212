"""A mask of shape (S,) broadcasts under MATH and is an IndexError by default. Exits 1 so long."""

import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention as sdpa

print("torch", torch.__version__)
query, key, mask = torch.ones(1, 1, 2, 8), torch.ones(1, 1, 3, 8), torch.ones(3, dtype=torch.bool)
with sdpa_kernel(SDPBackend.MATH):
    print("MATH:", tuple(sdpa(query, key, key, attn_mask=mask).shape))
try:
    print("default:", tuple(sdpa(query, key, key, attn_mask=mask).shape))
except IndexError as error:
    print("default: IndexError:", error)
    sys.exit(1)
