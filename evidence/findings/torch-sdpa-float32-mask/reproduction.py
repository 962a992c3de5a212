"""A float32 mask of zeros changes what float64 queries see. Exits 1 while it does."""

import sys

import torch
from torch.nn.functional import scaled_dot_product_attention as sdpa

torch.manual_seed(0)
query, key, value = torch.randn(3, 1, 1, 32, 8, dtype=torch.float64)
print("torch", torch.__version__, torch.backends.cpu.get_cpu_capability())
wrong = 0
for keys in range(1, 33):
    arguments = (query[:, :, :1], key[:, :, :keys], value[:, :, :keys])
    rows = sdpa(*arguments, attn_mask=torch.zeros(1, keys))  # float32, and it hides nothing
    difference = (rows - sdpa(*arguments)).abs().max().item()
    if difference > 1e-9:
        wrong += 1
        print(f"{keys} keys: rows differ by {difference:.2g} from those without a mask")
sys.exit(1 if wrong else 0)
