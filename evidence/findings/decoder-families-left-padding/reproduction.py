"""Decoders of encoder-decoder families count pads as positions. Exits 1 while one does."""

import sys
from functools import partial

import torch
import transformers

sizes = {"vocab_size": 32, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
    "decoder_layers": 2, "decoder_attention_heads": 4, "decoder_ffn_dim": 64, "ffn_dim": 64,
    "pad_token_id": 0, "init_std": 0.2, "initializer_factor": 0.2, "num_codebooks": 1,
    "is_decoder": True, "is_encoder_decoder": False}  # fmt: skip
options = {"max_new_tokens": 1, "output_logits": True, "return_dict_in_generate": True}
ids, mask, off = torch.tensor([[0, 0, 5, 6, 7]]), torch.tensor([[0, 0, 1, 1, 1]]), []
for name in ("Marian", "MBart", "Mvp", "Pegasus", "PLBart", "TrOCR", "Whisper", "Musicgen",
    "MusicgenMelody"):  # fmt: skip
    torch.manual_seed(0)
    kind = getattr(transformers, f"{name}ForCausalLM")
    model = kind(kind.config_class(**sizes)).eval()
    run = model if "Musicgen" in name else partial(model.generate, do_sample=False, **options)
    rows = run(ids, attention_mask=mask).logits[0][-1], run(ids[:, 2:]).logits[0][-1]
    off.append((rows[0] - rows[1]).abs().max().item())
    print(f"{name}: the row of the third token behind two pads is off by {off[-1]:.2g}")
sys.exit(1 if max(off) > 1e-3 else 0)
