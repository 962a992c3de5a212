"""BERT and its kin give the last position to all tokens of a call. Exits 1 while one does."""

import sys

import torch
from transformers import AutoConfig, AutoModelForCausalLM

names = "bert bert-generation big_bird electra ernie megatron-bert rembert roc_bert"
ids, wrong = torch.arange(1, 10)[None], 0  # nine tokens for eight positions
for name in names.split():
    torch.manual_seed(0)
    config = AutoConfig.for_model(name, vocab_size=32, hidden_size=32, num_hidden_layers=2,
        num_attention_heads=4, max_position_embeddings=8, is_decoder=True)  # fmt: skip
    model = AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        cache, said = model(ids[:, :7], use_cache=True).cache, []
        for tokens, past in ((ids[:, 7:], {"cache": cache, "use_cache": True}), (ids, {})):
            try:
                said.append(f"{model(tokens, **past).logits.shape[1]} rows")
            except (IndexError, RuntimeError) as error:
                said.append(type(error).__name__)
    wrong += "rows" in said[0]
    print(f"{name}: two tokens onto seven: {said[0]}; nine at once: {said[1]}")
sys.exit(1 if wrong else 0)
