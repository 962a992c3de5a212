"""The optional members of a decoder, as data: `protocol` finds them, the docs have a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Capability:
    """Optional members that belong together, with their meaning.

    Attributes:
        id: its name.
        functions: names of the functions that it consists of; all are needed.
        members: the members as a reader would write them.
        meaning: their promise, or what they allow.
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
        "per layer, a mapping of names to arrays, the filled part only: its bytes are compared and "
        "counted, and `certify` proves more with fewer calls",
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
        "the cache with its first `length` tokens only, 1 to all of them (speculative decoding "
        "rolls back like this)",
    ),
    Capability("save", ("save", "load"), "save(cache), load(data)", "to bytes and back to a cache"),
    Capability("reset", ("reset",), "reset(cache)", "the cache, emptied for reuse"),
    Capability(
        "release",
        ("release",),
        "release(cache)",
        "called when a cache will not be used again, for decoders that count references; with "
        "mutates_cache, the cache that a call returns replaces the one it was given",
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
        "the number of rows that `extend` has projected so far: shows that the cache is used",
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
        "after the first call all rows of a batch get equally many new tokens: pads stand only in "
        "front of a prompt",
    ),
    Capability(
        "full_batch", ("full_batch",), "full_batch(arrays)", "a list of rows, no cache involved"
    ),
    Capability(
        "reorder",
        ("reorder",),
        "reorder(cache, rows)",
        "the batch with these of its rows, in this order; rows may repeat or be left out (beam "
        "search)",
    ),
    Capability(
        "merge",
        ("merge",),
        "merge(caches)",
        "one batch of the rows of several; those are then released, except one that is the result",
    ),
    Capability(
        "bounds",
        (),
        "window, max_length",
        "integers or None: lengths are drawn around the window and up to max_length; past "
        "max_length an error is expected",
    ),
    Capability(
        "precision",
        (),
        "dtype, atol",
        "the precision of the arithmetic, where the rows do not show it; and an absolute "
        "difference that you promise to stay within, if rounding is less (a quantised cache)",
    ),
    Capability(
        "as_float64",
        ("as_float64",),
        "as_float64()",
        "the same decoder in float64: tells rounding from mistakes",
    ),
)

CAPABILITIES: Mapping[str, Capability] = MappingProxyType({one.id: one for one in _CAPABILITIES})
"""The optional members of a decoder; each is found by presence."""
