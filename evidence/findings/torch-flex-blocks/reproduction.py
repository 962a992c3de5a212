"""Uncompiled flex_attention looks at all keys, whatever blocks are named. Exits 1 while it does."""

import sys
import warnings

import torch
from torch.nn.attention.flex_attention import BlockMask, flex_attention

warnings.simplefilter("ignore")  # that it should be compiled, and how to debug it without
print("torch", torch.__version__)
query, key = torch.ones(1, 1, 1, 8), torch.ones(1, 1, 256, 8)
value = torch.arange(256.0)[:, None].expand(1, 1, 256, 8)
count, blocks = torch.ones(1, 1, 1, dtype=torch.int32), torch.tensor([[[[1, 0]]]])
second = BlockMask.from_kv_blocks(count, blocks.int(), seq_lengths=(1, 256))
print("blocks that are seen, by to_dense():", second.to_dense().flatten().tolist())
got = flex_attention(query, key, value, block_mask=second)[0, 0, 0, 0].item()
print(f"mean of the values seen: {got:.2f}; keys 128 to 255 have {(128 + 255) / 2}, all 127.5")
sys.exit(1 if abs(got - (128 + 255) / 2) > 1e-3 else 0)
