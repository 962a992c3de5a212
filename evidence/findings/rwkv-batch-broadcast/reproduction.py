"""RWKV mixes the rows of a batch that it is given one token each of. Exits 1 while it does."""

import sys

import torch
from transformers import RwkvConfig, RwkvForCausalLM

torch.manual_seed(0)
config = RwkvConfig(vocab_size=32, hidden_size=32, num_hidden_layers=2, eos_token_id=None)
model = RwkvForCausalLM(config).eval()
for parameter in model.parameters():
    if parameter.ndim == 2:
        torch.nn.init.normal_(parameter, std=0.2)
prompts = torch.tensor([[1, 2], [3, 4]])
options = {"max_new_tokens": 2, "do_sample": False, "output_logits": True,
    "return_dict_in_generate": True}  # fmt: skip
together = model.generate(prompts, **options).logits
alone = model.generate(prompts[:1], **options).logits
off = [(a[0] - b[0]).abs().max().item() for a, b in zip(together, alone, strict=True)]
print(f"first row in a batch of two, new tokens 1 and 2: off by {off[0]:.2g} and {off[1]:.2g}")
with torch.no_grad():
    state = model(prompts, use_cache=True).state
    print("shape for one more token each:", *model(prompts[:, :1], state=state).logits.shape)
sys.exit(1 if max(off) > 1e-3 else 0)
