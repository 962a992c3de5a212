"""With dynamic rotary scaling a pass changes what later passes give. Exits 1 while it does."""

import sys

import torch
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(0)
rope = {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10000.0}
config = LlamaConfig(vocab_size=32, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=64, max_position_embeddings=8, rope_parameters=rope,
    initializer_range=0.2)  # fmt: skip
model, ids, off = LlamaForCausalLM(config).eval(), torch.arange(32)[None], []
with torch.no_grad():
    for length in (7, 8, 12):  # below, at and beyond the original length
        before = model(ids[:, :length], use_cache=False).logits
        model(ids, use_cache=False)  # somebody's longer sequence
        after = model(ids[:, :length], use_cache=False).logits
        model(ids[:, :1], use_cache=False)  # puts the frequencies back
        off.append((after - before).abs().max().item())
        print(f"{length} tokens, before and after a pass over 32: logits differ by {off[-1]:.2g}")
sys.exit(1 if max(off) > 1e-3 else 0)
