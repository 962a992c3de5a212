"""The optional members of a decoder, as data: `protocol` finds them, the README has a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


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
        "even_batches",
        (),
        "even_batches = True",
        "after the first call a batch's rows all get as many new tokens: pads stand in front of a "
        "prompt alone",
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
