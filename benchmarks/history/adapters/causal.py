"""torch's own attention function, told that it is causal in two ways.

``is_causal=True`` draws its triangle from the top left corner: the first of the new queries sees
the first key alone, however many keys are in the cache. `causal_lower_right` is the one that a
cache needs. Both are documented, so that this is a trap and not a defect of the library.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.attention.bias import causal_lower_right
from torch.nn.functional import scaled_dot_product_attention

VOCABULARY, WIDTH = 32, 32


class Attention:
    """One layer over embeddings; the cache is a pair of keys and values, (1, 1, S, width)."""

    vocab_size = VOCABULARY

    def __init__(self, seed: int, *, lower_right: bool) -> None:
        draw = torch.Generator().manual_seed(seed)
        self.embedding = torch.randn(VOCABULARY, WIDTH, generator=draw)
        self.query, self.key, self.value = torch.randn(3, WIDTH, WIDTH, generator=draw) / WIDTH**0.5
        self.lower_right = lower_right

    def full(self, tokens: Any) -> NDArray[np.float32]:
        """As many queries as keys: both triangles are the same."""
        return self.extend(tokens, self.new_cache())[0]

    def new_cache(self) -> tuple[torch.Tensor, torch.Tensor]:
        """No keys, no values."""
        return torch.empty(1, 1, 0, WIDTH), torch.empty(1, 1, 0, WIDTH)

    def extend(self, tokens: Any, cache: Any) -> tuple[NDArray[np.float32], Any]:
        """The new rows, and longer keys and values."""
        x = self.embedding[torch.as_tensor(np.asarray(tokens))][None, None]
        keys = torch.cat([cache[0], x @ self.key], dim=2)
        values = torch.cat([cache[1], x @ self.value], dim=2)
        new, held = x.shape[2], keys.shape[2]
        causal = {"attn_mask": causal_lower_right(new, held)} if self.lower_right else {}
        found = scaled_dot_product_attention(
            x @ self.query, keys, values, is_causal=not self.lower_right, **causal
        )
        rows: NDArray[np.float32] = (x + found)[0, 0].numpy()
        return rows, (keys, values)


def top_left(seed: int) -> Attention:
    """With ``is_causal=True``."""
    return Attention(seed, lower_right=False)


def lower_right(seed: int) -> Attention:
    """With ``attn_mask=causal_lower_right(new, held)``."""
    return Attention(seed, lower_right=True)
