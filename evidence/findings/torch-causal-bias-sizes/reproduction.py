"""A causal_lower_right of another size than the call is used all the same. Exits 1 while it is."""

import sys

import torch
from torch.nn.attention.bias import causal_lower_right
from torch.nn.functional import scaled_dot_product_attention as sdpa

print("torch", torch.__version__)
query, key = torch.ones(1, 1, 1, 8), torch.ones(1, 1, 5, 8)
value = torch.arange(5.0)[:, None].expand(1, 1, 5, 8)
print("right:", sdpa(query, key, value, causal_lower_right(1, 5))[0, 0, 0, 0].item())
try:
    got = sdpa(query, key, value, causal_lower_right(5, 5))[0, 0, 0, 0].item()
except (RuntimeError, ValueError) as error:
    print("refused:", error)
    sys.exit(0)
print("with the bias of five rows:", got, "- the last token sees the first key alone")
sys.exit(1)
