"""generate gives RoBERTa other positions than its forward pass counts. Exits 1 while it does."""

import sys

import torch
from transformers import AutoConfig, AutoModelForCausalLM

names = ["camembert", "data2vec-text", "roberta", "roberta-prelayernorm", "xlm-roberta",
    "xlm-roberta-xl", "xmod"]  # fmt: skip
options = {"max_new_tokens": 1, "do_sample": False, "output_logits": True,
    "return_dict_in_generate": True}  # fmt: skip
ids, worst = torch.tensor([[5, 6, 7, 8]]), 0.0
for name in names:
    torch.manual_seed(0)
    own = {"languages": ["en_XX"], "default_language": "en_XX"} if name == "xmod" else {}
    config = AutoConfig.for_model(name, vocab_size=32, hidden_size=32, num_hidden_layers=2,
        num_attention_heads=4, intermediate_size=64, max_position_embeddings=64, pad_token_id=1,
        initializer_range=0.2, is_decoder=True, bos_token_id=0, eos_token_id=2, **own)  # fmt: skip
    model = AutoModelForCausalLM.from_config(config).eval()
    generated, forward = model.generate(ids, **options).logits[0][0], model(ids).logits[0, -1]
    off = (generated - forward).abs().max().item()
    print(f"{name}: first new token: generate and forward differ by {off:.2g}")
    worst = max(worst, off)
sys.exit(1 if worst > 1e-3 else 0)
