"""A causal transformers model with token ids and a cache, as its documentation calls it."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

VOCABULARY, WIDTH, HEADS, LAYERS = 32, 32, 4, 2

SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": WIDTH,
    "num_hidden_layers": LAYERS,
    "initializer_range": WIDTH**-0.5,
}
"""Arguments that the configurations of most models share."""

ATTENTION = {
    "intermediate_size": 2 * WIDTH,
    "num_attention_heads": HEADS,
    "num_key_value_heads": HEADS // 2,
    "max_position_embeddings": 128,
}
"""Of those with attention and a block of two linear maps."""

_ANSWERED = ("cache", "past_key_values", "cache_params")  # names of the cache, newest first


class Plain:
    """Rows are logits. A cache is what `model` is given beside the ids: nothing at first.

    Args:
        model: the class of a model with a head.
        config: its configuration.
        seed: of the weights.
    """

    vocab_size = VOCABULARY
    mutates_cache = True

    def __init__(self, model: Any, config: Any, seed: int) -> None:
        torch.manual_seed(seed)
        self.config = config
        self.model = model(config).eval()

    def full(self, tokens: Any) -> NDArray[np.float32]:
        """One pass without a cache."""
        return rows(self.call(tokens, use_cache=False))

    def new_cache(self) -> dict[str, Any]:
        """The model makes its own, at the first call."""
        return {}

    def extend(self, tokens: Any, cache: dict[str, Any]) -> tuple[NDArray[np.float32], Any]:
        """The model's answer, and the cache in it."""
        outputs = self.call(tokens, use_cache=True, **cache)
        found = next(name for name in _ANSWERED if name in outputs)
        name = next(iter(cache), found)  # as it was given, where a release answers under another
        return rows(outputs), {name: outputs[found]}

    def fork(self, cache: dict[str, Any]) -> dict[str, Any]:
        """A deep copy."""
        return copy.deepcopy(cache)

    def call(self, tokens: Any, **arguments: Any) -> Any:
        """The model on one row of tokens."""
        return self.call_batch([tokens], **arguments)

    def call_batch(self, sequences: Any, **arguments: Any) -> Any:
        """The model on a batch of equal lengths."""
        ids = torch.as_tensor(np.asarray(sequences, np.int64))
        with torch.no_grad():
            return self.model(input_ids=ids, **arguments)


def rows(outputs: Any, row: int = 0) -> NDArray[np.float32]:
    """(T, vocabulary) logits of one row of the batch."""
    found: NDArray[np.float32] = outputs.logits[row].float().numpy()
    return found


def equal_lengths(sequences: Any) -> None:
    """Refuse a ragged batch: without padding these calls take rows of one length only.

    Raises:
        NotImplementedError: the lengths differ.
    """
    if len({len(one) for one in sequences}) > 1:
        raise NotImplementedError("rows of one length only")
