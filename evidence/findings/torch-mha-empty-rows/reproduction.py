"""A row that sees no key: NaN or not, by the path MultiheadAttention takes. Exits 1 while it is."""

import sys

import torch

torch.manual_seed(0)
print("torch", torch.__version__)
module = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval()
x, seen = torch.randn(1, 3, 8), set()
hidden = torch.ones(3, 3, dtype=torch.bool).triu(1)
padding = torch.tensor([[True, False, False]])  # row 0 sees nothing
for weights in (True, False):
    for grad in (True, False):
        with torch.set_grad_enabled(grad):
            rows, _ = module(x, x, x, padding, weights, hidden)
        seen.add(nan := bool(rows[0, 0].isnan().all()))
        print(f"need_weights={weights!s:5} grad={grad!s:5} row 0 is NaN: {nan}")
sys.exit(1 if len(seen) > 1 else 0)
