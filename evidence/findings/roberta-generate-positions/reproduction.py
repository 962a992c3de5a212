"""generate gives RoBERTa other positions than its forward pass counts. Exits 1 while it does."""

import sys

import torch
from transformers import RobertaConfig, RobertaForCausalLM

torch.manual_seed(0)
config = RobertaConfig(vocab_size=32, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=64, max_position_embeddings=64, initializer_range=0.2, is_decoder=True,
    pad_token_id=1, bos_token_id=0, eos_token_id=2)  # fmt: skip
model, ids = RobertaForCausalLM(config).eval(), torch.tensor([[5, 6, 7, 8]])
with torch.no_grad():
    forward = model(ids).logits[0, -1]
    options = {"max_new_tokens": 1, "output_logits": True, "return_dict_in_generate": True}
    generated = model.generate(ids, do_sample=False, **options).logits[0][0]
off = (generated - forward).abs().max().item()
print(f"logits of the first new token: generate and forward differ by {off:.2g}")
sys.exit(1 if off > 1e-3 else 0)
