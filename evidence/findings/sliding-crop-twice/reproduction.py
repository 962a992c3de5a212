"""A recording cache past its window rolls back twice, and loses keys. Exits 1 while it does."""

import sys

import torch
from transformers import DynamicCache, MistralConfig, MistralForCausalLM

torch.manual_seed(0)
config = MistralConfig(vocab_size=32, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, intermediate_size=64, sliding_window=6)  # fmt: skip
model, ids = MistralForCausalLM(config).eval(), torch.arange(10)[None]
cache = DynamicCache(config=config)
cache.activate_past_recording()
with torch.no_grad():
    model(ids, cache=cache)
    cache.crop(-1)  # leaves what the next call needs, and drops the rest
    print("is_croppable:", cache.is_croppable)
    cache.crop(-3)  # needs keys that are gone: nothing is said
kept, due = cache.layers[0].keys.shape[-2], min(cache.get_seq_length(), config.sliding_window - 1)
print(f"{cache.get_seq_length()} tokens left, {kept} keys kept of the {due} that a row sees")
sys.exit(1 if kept < due else 0)
