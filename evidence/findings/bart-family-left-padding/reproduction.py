"""Decoders of encoder-decoder families count pads as positions. Exits 1 while one does."""

import sys

import torch
from transformers import AutoConfig, AutoModelForCausalLM

names = ["bart", "bigbird_pegasus", "blenderbot", "blenderbot-small", "marian", "mbart", "mvp",
    "pegasus", "plbart", "trocr", "whisper"]  # fmt: skip
ids, wrong = torch.tensor([[0, 0, 5, 6, 7]]), 0
options = {"max_new_tokens": 1, "do_sample": False, "output_logits": True,
    "return_dict_in_generate": True}  # fmt: skip
for name in names:
    torch.manual_seed(0)
    config = AutoConfig.for_model(name, vocab_size=32, d_model=32, decoder_layers=2, pad_token_id=0,
        decoder_attention_heads=4, decoder_ffn_dim=64, init_std=0.2, bos_token_id=1, eos_token_id=2,
        decoder_start_token_id=1, is_decoder=True, is_encoder_decoder=False)  # fmt: skip
    model = AutoModelForCausalLM.from_config(config).eval()
    padded = model.generate(ids, attention_mask=(ids > 0).long(), **options).logits[0]
    off = (padded - model.generate(ids[:, 2:], **options).logits[0]).abs().max().item()
    wrong += off > 1e-3
    print(f"{name}: first new token behind two pads: logits off by {off:.2g}")
sys.exit(1 if wrong else 0)
