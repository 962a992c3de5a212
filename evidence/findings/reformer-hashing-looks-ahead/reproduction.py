"""A Reformer's row moves when a token after it changes. Exits 1 while it does."""

import sys

import torch
from transformers import ReformerConfig, ReformerModelWithLMHead

torch.manual_seed(0)
config = ReformerConfig(vocab_size=32, hidden_size=32, num_attention_heads=4, hash_seed=0,
    attention_head_size=8, feed_forward_size=64, attn_layers=["lsh", "lsh"], is_decoder=True,
    lsh_attn_chunk_length=4, axial_pos_embds=False, max_position_embeddings=64, pad_token_id=0,
    initializer_range=0.2)  # fmt: skip
model, found = ReformerModelWithLMHead(config).eval(), []
with torch.no_grad():
    for last in range(1, 32):
        ids = torch.tensor([[5, 9, 2, 30, 7, 11, 23, 4, 8, 15, 1, last]])
        found.append(model(ids, use_cache=False).logits[0, :11])
moved = max((rows - found[0]).abs().max().item() for rows in found)
print(f"changing the twelfth token moves the logits before it by up to {moved:.2g}")
sys.exit(1 if moved > 1e-3 else 0)
