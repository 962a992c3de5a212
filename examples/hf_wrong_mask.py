"""Hugging Face models with a wrong mask, patched in from outside: a mistake to be found.

    cachecheck fuzz examples/hf_wrong_mask.py:llama

The mistake: when a chunk is appended to a history, the rows of its causal mask are numbered from 0
instead of from the length already cached, so that row t sees positions 0 to t and not 0 to
past + t. The first chunk is right, and so is a full pass. torch builds this very mask when it is
told `is_causal` with fewer queries than keys ("upper left").

Nothing is poisoned: the library's own function is put back as each call ends, also when the call
raises. While it runs, other threads would meet the patch too.
"""

from __future__ import annotations

import sys
from typing import Any
from unittest import mock

import torch

from cachecheck.engines.hugging_face import HuggingFaceDecoder
from cachecheck.engines.hugging_face.tiny import tiny_model


class RowsFromZero(HuggingFaceDecoder):
    """A decoder whose cached calls are masked as if each chunk began at position 0."""

    def extend(self, tokens: Any, cache: Any) -> tuple[Any, Any]:
        """As the sound decoder's, under the wrong mask."""
        new, past = len(tokens), cache.length
        mask = torch.ones(1, 1, new, past + new, dtype=torch.bool).tril()  # right: .tril(past)
        modeling = sys.modules[type(self.model).__module__]  # where the model looks the name up
        with mock.patch.object(modeling, "create_causal_mask", return_value=mask):
            return super().extend(tokens, cache)


def llama(seed: int) -> HuggingFaceDecoder:
    """A tiny random Llama with the mistake."""
    return RowsFromZero(tiny_model("llama", seed), threads=1)


def gpt2(seed: int) -> HuggingFaceDecoder:
    """A tiny random GPT-2 with the mistake."""
    return RowsFromZero(tiny_model("gpt2", seed), threads=1)
