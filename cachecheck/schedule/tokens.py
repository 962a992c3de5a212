"""Token sequences: drawn from a seed, or changed at some positions."""

from __future__ import annotations

import random
from collections.abc import Sequence


def tokens_of_seed(seed: int, length: int, vocab_size: int) -> tuple[int, ...]:
    """Random tokens of a seed, neighbours different; ``--token-seed`` and ``certify`` use them."""
    rng = random.Random(seed)  # noqa: S311 - nothing secret about it
    tokens: list[int] = []
    for _ in range(length):
        token = rng.randrange(vocab_size)
        if tokens and token == tokens[-1]:
            token = (token + 1) % vocab_size  # equal neighbours hide what mixes them up
        tokens.append(token)
    return tuple(tokens)


def changed(tokens: Sequence[int], start: int, stop: int, vocab_size: int) -> list[int]:
    """``tokens`` with those at positions start ... stop-1 replaced by the next ID."""
    return [
        (token + 1) % vocab_size if start <= position < stop else token
        for position, token in enumerate(tokens)
    ]
