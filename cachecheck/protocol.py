"""The border: the interface of a decoder under test, and its optional members.

Three functions and one number; everything else is found by presence, here and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from cachecheck.errors import InputError, TargetError
from cachecheck.members import CAPABILITIES
from cachecheck.tolerance import dtype_name


@runtime_checkable
class Decoder(Protocol):
    """The interface to implement to have a decoder checked. Optional members: `CAPABILITIES`."""

    vocab_size: int

    def full(self, tokens: Any) -> Any:
        """(T,) integers -> (T, width) floats: every row in one pass, no cache involved."""

    def new_cache(self) -> Any:
        """An empty cache; opaque to cachecheck."""

    def extend(self, tokens: Any, cache: Any) -> tuple[Any, Any]:
        """Append (T,) new tokens: their rows (T, width), and the cache that holds them."""


FUNCTIONS = ("full", "new_cache", "extend")
MEMBERS = ("vocab_size", *FUNCTIONS)


@dataclass(frozen=True)
class Capabilities:
    """All that a decoder declares beyond the three functions, with the defaults filled in.

    ``offers`` has the ids of the `CAPABILITIES` whose functions are there.
    """

    mutates_cache: bool
    even_batches: bool
    offers: frozenset[str]
    window: int | None
    max_length: int | None
    dtype: str | None
    atol: float | None


def missing_members(candidate: Any) -> list[str]:
    """The members of `Decoder` that ``candidate`` lacks."""
    lacking = [name for name in ("vocab_size",) if not hasattr(candidate, name)]
    return lacking + [name for name in FUNCTIONS if not callable(getattr(candidate, name, None))]


def check_members(candidate: Any) -> None:
    """Check that ``candidate`` is a decoder.

    Raises:
        TargetError: members missing, or a vocabulary of fewer than 2 tokens.
    """
    lacking = missing_members(candidate)
    if lacking:
        raise TargetError(
            f"{type(candidate).__name__} lacks {' and '.join(lacking)}; "
            "a decoder has vocab_size, full(tokens), new_cache() and extend(tokens, cache)"
        )
    size = candidate.vocab_size
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 2:
        raise TargetError(f"vocab_size must be an integer >= 2 (laws change tokens); got {size!r}")


def capabilities(decoder: Decoder) -> Capabilities:
    """The declarations of ``decoder``, checked.

    Raises:
        TargetError: a declaration of the wrong type or range.
    """
    mutates, even = _flag(decoder, "mutates_cache"), _flag(decoder, "even_batches")
    atol = getattr(decoder, "atol", None)
    numeric = isinstance(atol, int | float | np.integer | np.floating)
    if atol is not None and (isinstance(atol, bool) or not numeric or not 0 < atol < np.inf):
        raise TargetError(f"atol must be a number above 0; got {atol!r}")
    dtype = getattr(decoder, "dtype", None)
    try:
        name = None if dtype is None else dtype_name(dtype)
    except InputError as error:
        raise TargetError(str(error)) from error
    return Capabilities(
        mutates_cache=mutates,
        even_batches=even,
        offers=_offers(decoder),
        window=_optional_length(decoder, "window", 1),
        max_length=_optional_length(decoder, "max_length", 2),
        dtype=name,
        atol=None if atol is None else float(atol),
    )


def _flag(decoder: Decoder, name: str) -> bool:
    value = getattr(decoder, name, False)
    if not isinstance(value, bool):
        raise TargetError(f"{name} must be True or False; got {value!r}")
    return value


def _offers(decoder: Decoder) -> frozenset[str]:
    """Ids of the capabilities whose functions ``decoder`` has."""
    offers = set()
    for one in CAPABILITIES.values():
        for name in one.functions:
            value = getattr(decoder, name, None)
            if value is not None and not callable(value):
                raise TargetError(f"{name} is {type(value).__name__}; expected a method, or None")
        there = [name for name in one.functions if callable(getattr(decoder, name, None))]
        if len(there) == len(one.functions) > 0:
            offers.add(one.id)
        elif there:
            lacking = ", ".join(name for name in one.functions if name not in there)
            raise TargetError(f"{there[0]} needs {lacking} as well; offer all of them or none")
    for name, needed in (("reorder", "batch"), ("merge", "batch"), ("full_batch", "batch")):
        if name in offers and needed not in offers:
            raise TargetError(f"{name} needs new_batch_cache and extend_batch as well")
    return frozenset(offers)


def _optional_length(decoder: Decoder, name: str, least: int) -> int | None:
    value = getattr(decoder, name, None)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise TargetError(f"{name} must be None or an integer >= {least}; got {value!r}")
    return int(value)
