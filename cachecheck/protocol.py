"""The border: what a decoder under test is, and which optional members it has.

Three functions and one number; everything else is found by presence, here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

import numpy as np

from cachecheck.errors import InputError, TargetError
from cachecheck.tolerance import dtype_name


@runtime_checkable
class Decoder(Protocol):
    """What you implement to have your decoder checked. Optional members: see `CAPABILITIES`."""

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
class Capability:
    """Optional members that belong together, and what they are for.

    Attributes:
        id: its name.
        functions: names of the functions it takes, all of them.
        members: how a reader writes them.
        meaning: what they promise or allow.
    """

    id: str
    functions: tuple[str, ...]
    members: str
    meaning: str


_CAPABILITIES = (
    Capability(
        "mutates_cache",
        (),
        "mutates_cache = True",
        "`extend` may change the cache it is given; default: it does not, and the cache stays "
        "usable",
    ),
    Capability(
        "state",
        ("state",),
        "state(cache)",
        "per layer, a mapping of names to arrays, the filled part only: bytes are compared, the "
        "payload counted, and `certify` proves more with fewer calls",
    ),
    Capability(
        "fork",
        ("fork",),
        "fork(cache)",
        "an independent copy; default: the cache itself, or `copy.deepcopy` with mutates_cache",
    ),
    Capability(
        "crop",
        ("crop",),
        "crop(cache, length)",
        "the cache with its first tokens only, 1 to all of them (speculative decoding rolls back "
        "like this)",
    ),
    Capability("save", ("save", "load"), "save(cache), load(data)", "to bytes and back to a cache"),
    Capability("reset", ("reset",), "reset(cache)", "the cache emptied, to be used again"),
    Capability(
        "release",
        ("release",),
        "release(cache)",
        "called when a cache will not be used again, for those who count references; what a call "
        "returns takes over from a cache that is changed in place",
    ),
    Capability(
        "check_invariants",
        ("check_invariants",),
        "check_invariants(caches)",
        "called after every step with all live caches: raise AssertionError if your own "
        "accounts (blocks, reference counts) are wrong",
    ),
    Capability(
        "work",
        ("work",),
        "work()",
        "rows that `extend` has projected so far: shows that the cache is used",
    ),
    Capability(
        "batch",
        ("new_batch_cache", "extend_batch"),
        "new_batch_cache(n), extend_batch(arrays, cache)",
        "several sequences at once, one array of new tokens each, of different lengths; returns "
        "a list of rows and the cache",
    ),
    Capability(
        "full_batch", ("full_batch",), "full_batch(arrays)", "a list of rows, no cache involved"
    ),
    Capability(
        "reorder",
        ("reorder",),
        "reorder(cache, rows)",
        "a batch with these of its rows, in this order, repeated or left out (beam search)",
    ),
    Capability(
        "merge",
        ("merge",),
        "merge(caches)",
        "one batch of the rows of several, which are released unless it is one of them",
    ),
    Capability(
        "bounds",
        (),
        "window, max_length",
        "integers or None: lengths are drawn around the one and within the other; past the second "
        "an error is due",
    ),
    Capability(
        "precision",
        (),
        "dtype, atol",
        "precision of the arithmetic, where the rows do not show it; an absolute difference, if "
        "you promise less (a quantised cache)",
    ),
    Capability(
        "as_float64",
        ("as_float64",),
        "as_float64()",
        "the same decoder in float64: settles what may be rounding",
    ),
)

CAPABILITIES: Mapping[str, Capability] = MappingProxyType({one.id: one for one in _CAPABILITIES})
"""The optional members of a decoder; each is found by presence."""


@dataclass(frozen=True)
class Capabilities:
    """What a decoder declares beyond the three functions, with the defaults filled in.

    ``offers`` has the ids of the `CAPABILITIES` whose functions are there.
    """

    mutates_cache: bool
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
    """Refuse what is not a decoder.

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
    """Discover what ``decoder`` declares.

    Raises:
        TargetError: a declaration of the wrong type or range.
    """
    mutates = getattr(decoder, "mutates_cache", False)
    if not isinstance(mutates, bool):
        raise TargetError(f"mutates_cache must be True or False; got {mutates!r}")
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
        offers=_offers(decoder),
        window=_length(decoder, "window", 1),
        max_length=_length(decoder, "max_length", 2),
        dtype=name,
        atol=None if atol is None else float(atol),
    )


def _offers(decoder: Decoder) -> frozenset[str]:
    """Ids of the capabilities that ``decoder`` has the functions of."""
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


def _length(decoder: Decoder, name: str, least: int) -> int | None:
    value = getattr(decoder, name, None)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise TargetError(f"{name} must be None or an integer >= {least}; got {value!r}")
    return int(value)
