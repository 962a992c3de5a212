"""Decoders of the BART family count pads as positions. Exits 1 while one does."""

import sys

import torch
from transformers import AutoConfig, AutoModelForCausalLM

options = {"max_new_tokens": 1, "do_sample": False, "output_logits": True,
    "return_dict_in_generate": True}  # fmt: skip
alone, left, right = torch.tensor([[5, 6, 7]]), [[0, 0, 5, 6, 7]], [[5, 6, 7, 0, 0]]
wrong = 0
for name in ("bart", "bigbird_pegasus", "blenderbot", "blenderbot-small"):
    torch.manual_seed(0)
    config = AutoConfig.for_model(name, vocab_size=32, d_model=32, decoder_layers=2, pad_token_id=0,
        decoder_attention_heads=4, decoder_ffn_dim=64, init_std=0.2, bos_token_id=1, eos_token_id=2,
        decoder_start_token_id=1, is_decoder=True, is_encoder_decoder=False)  # fmt: skip
    model = AutoModelForCausalLM.from_config(config).eval()
    due, off = model.generate(alone, **options).logits[0], []
    for ids in (torch.tensor(left), torch.tensor(right)):
        got = model.generate(ids, attention_mask=(ids > 0).long(), **options).logits[0]
        off.append((got - due).abs().max().item())
    print(f"{name}: first new token beside two pads: off by {off[0]:.2g} left, {off[1]:.2g} right")
    wrong += off[0] > 1e-3
sys.exit(1 if wrong else 0)
