"""GIT without an image shifts the mask of a cached call. Exits 1 while it does."""

import sys

import torch
from transformers import GitConfig, GitForCausalLM

torch.manual_seed(0)
config = GitConfig(vocab_size=32, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=64, max_position_embeddings=64, initializer_range=0.2, bos_token_id=None,
    eos_token_id=None, vision_config={"hidden_size": 32, "intermediate_size": 64, "image_size": 16,
    "num_hidden_layers": 1, "num_attention_heads": 4, "patch_size": 4})  # fmt: skip
model, ids = GitForCausalLM(config).eval(), torch.tensor([[0, 0, 5, 6, 7]])
options = {"max_new_tokens": 2, "do_sample": False, "output_logits": True,
    "return_dict_in_generate": True}  # fmt: skip
padded = model.generate(ids, attention_mask=(ids > 0).long(), **options)
alone = model.generate(ids[:, 2:], **options)
same = bool(padded.sequences[0, 5] == alone.sequences[0, 3])
off = [(a - b).abs().max().item() for a, b in zip(padded.logits, alone.logits, strict=True)]
print(f"behind two pads the first new token is off by {off[0]:.2g}, and is the same: {same}")
print(f"the second, over the cache, is off by {off[1]:.2g}")
sys.exit(1 if max(off) > 1e-3 else 0)
