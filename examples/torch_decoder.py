"""A torch module whose cache is written in place: cachecheck fuzz examples/torch_decoder.py:make"""

import copy

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention


class TorchDecoder(nn.Module):
    vocab_size, max_length = 50, 64
    mutates_cache = True  # extend writes into the cache it is given

    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(50, 16), nn.Embedding(64, 16)
        self.project, self.out = nn.Linear(16, 48), nn.Linear(16, 50)

    def embed(self, tokens, past):
        at = torch.arange(past, past + len(tokens))
        return self.tokens(torch.as_tensor(tokens)) + self.places(at)

    @torch.no_grad()
    def full(self, tokens):
        x = self.embed(tokens, 0)
        query, key, value = self.project(x)[None].chunk(3, dim=-1)
        rows = scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.out(x + rows[0]).numpy()

    def new_cache(self):
        return {"kv": self.out.weight.new_zeros(2, 64, 16), "length": 0}

    @torch.no_grad()
    def extend(self, tokens, cache):
        past, end = cache["length"], cache["length"] + len(tokens)
        x = self.embed(tokens, past)
        query, *kv = self.project(x)[None].chunk(3, dim=-1)
        cache["kv"][:, past:end], cache["length"] = torch.cat(kv), end
        key, value = cache["kv"][:, None, :end]
        mask = torch.ones(len(tokens), end, dtype=torch.bool).tril(past)
        rows = scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return self.out(x + rows[0]).numpy(), cache

    def crop(self, cache, length):  # optional, like the next: each unlocks laws
        cache["length"] = length
        return cache

    def as_float64(self):
        return copy.deepcopy(self).double()


def make(seed):
    torch.manual_seed(seed)
    return TorchDecoder().eval()
