"""A bound on what a cache of few bits does to rows, measured: no library promises one.

The model is run once more with keys and values that are off by all that their storage may round
away, up or down at random, every one of them. A right cache rounds by less in the mean, and leaves
new tokens as they are: what is farther off than this is no rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

Rounding = Callable[[torch.Tensor], torch.Tensor]
"""From keys or values (B, heads, T, width) to the most that each may be rounded by."""

_SEQUENCES, _LENGTH = 12, 24
"""Sequences that are run: as long as drawn cases are, and many enough to meet bad rows."""

_ALLOWANCE = 1.5
"""Half as much again, since the worst of so few sequences is not the worst of all.

An ideal cache of 8-bit floats holds within it, also where a small step changes which experts are
chosen, and wrong ones do not: tests/test_engines_quantised.py.
"""


def three_bit_mantissa(states: torch.Tensor) -> torch.Tensor:
    """Of 8-bit floats (e4m3): a sixteenth of the entry."""
    return states.abs() / 16


def four_bits(states: torch.Tensor) -> torch.Tensor:
    """Of 16 levels between the least and the largest entry of a head: half of the way to the next.

    The library's groups are within a head, and their steps no wider.
    """
    span = states.amax(-1, keepdim=True) - states.amin(-1, keepdim=True)
    return (span / 15 / 2).expand_as(states)


def rounding_bound(model: Any, argument: str, rounding: Rounding, vocab_size: int) -> float:
    """The largest difference in a row that rounding keys and values explains.

    Args:
        model: in eval mode.
        argument: of its forward pass, that takes the cache.
        rounding: of the storage.
        vocab_size: tokens are drawn below it.
    """
    random = torch.Generator().manual_seed(0)
    config = model.config.get_text_config(decoder=True)
    worst = 0.0
    for _ in range(_SEQUENCES):
        ids = torch.randint(0, vocab_size, (1, _LENGTH), generator=random)
        cache = DynamicCache(config=config)
        cache.layers = [_Rounded(rounding, random) for _ in cache.layers]
        with torch.inference_mode():
            moved = model(input_ids=ids, use_cache=True, **{argument: cache}).logits
            rows = model(input_ids=ids, use_cache=False).logits
        worst = max(worst, float((moved - rows).abs().max()))
    return _ALLOWANCE * worst


class _Rounded(DynamicLayer):  # type: ignore[misc] # the library is not typed
    """Hands back keys and values that are rounded by as much as may be."""

    def __init__(self, rounding: Rounding, random: torch.Generator) -> None:
        super().__init__()
        self._rounding, self._random = rounding, random

    def update(self, keys: torch.Tensor, values: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        """As the library's own, of rounded states."""
        return super().update(self._moved(keys), self._moved(values), *args, **kwargs)

    def _moved(self, states: torch.Tensor) -> torch.Tensor:
        up = torch.randint(0, 2, states.shape, generator=self._random) * 2 - 1
        return states + up * self._rounding(states)
