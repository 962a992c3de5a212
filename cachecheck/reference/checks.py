"""Bad tokens and bad positions, refused with one clear line before any arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np

from cachecheck.errors import InputError
from cachecheck.reference.config import Config
from cachecheck.reference.positions import Ints


def as_integers(values: Any, what: str) -> Ints:
    """``values`` as a fresh (T,) int64 array.

    Raises:
        InputError: not one-dimensional, empty, or not integers.
    """
    array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"{what} must be a one-dimensional sequence; got shape {array.shape}")
    if array.size == 0:
        raise InputError(f"{what} must not be empty; give at least one")
    if array.dtype.kind not in "iu":
        raise InputError(f"{what} must be integers; got {array.dtype}")
    return array.astype(np.int64)


def check_tokens(tokens: Any, vocab_size: int) -> Ints:
    """``tokens`` as (T,) int64 in [0, vocab_size).

    Raises:
        InputError: empty, not integers, or out of the vocabulary.
    """
    array = as_integers(tokens, "tokens")
    outside = np.flatnonzero((array < 0) | (array >= vocab_size))
    if outside.size:
        at = int(outside[0])
        raise InputError(
            f"token {array[at]} at index {at} is outside the vocabulary of {vocab_size} "
            f"(expected 0 to {vocab_size - 1})"
        )
    return array


def check_consecutive(positions: Any, what: str) -> Ints:
    """``positions`` as (T,) int64, each one more than the one before, none negative.

    Raises:
        InputError: a gap, a repeat, or a negative position.
    """
    array = as_integers(positions, what)
    if array[0] < 0:
        raise InputError(f"{what} must be >= 0; got {array[0]}")
    gaps = np.flatnonzero(np.diff(array) != 1)
    if gaps.size:
        at = int(gaps[0])
        raise InputError(f"{what} must be consecutive; {array[at]} is followed by {array[at + 1]}")
    return array


def check_fits(length: int, config: Config) -> None:
    """Refuse a sequence of ``length`` tokens that the configuration has no room for.

    Raises:
        InputError: ``length`` exceeds ``config.max_length``.
    """
    if config.max_length is not None and length > config.max_length:
        raise InputError(f"{length} tokens exceed max_length {config.max_length}")
