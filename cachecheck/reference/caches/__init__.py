"""The kinds of caches that people run, each behind the border and equal to the same full pass.

Kinds differ in how keys and values are stored; most share the forward pass in `extend`.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from cachecheck.reference.caches import (  # modules: their factories have the same names
    batched,
    copying,
    hybrid,
    paged_decoder,
    prefix_decoder,
    quantised,
    ring,
    shared,
    sinks,
    static,
    tied,
)

CACHES: Mapping[str, Callable[[int], Any]] = MappingProxyType(
    {
        "copying": copying.copying,
        "shared": shared.shared,
        "static": static.static,
        "ring": ring.ring,
        "sinks": sinks.sinks,
        "paged": paged_decoder.paged,
        "prefix": prefix_decoder.prefix,
        "quantised": quantised.quantised,
        "tied": tied.tied,
        "hybrid": hybrid.hybrid,
        "batched": batched.batched,
    }
)
"""Factories by name: a seed gives a decoder whose configuration is drawn from it too."""

CACHE_KINDS: Mapping[str, str] = MappingProxyType(
    {
        "copying": "immutable arrays, copied at every append",
        "shared": "append-only storage that all branches share; forks are free",
        "static": "preallocated buffers, written in place, with a `max_length`",
        "ring": "a ring of `window` slots, written in place",
        "sinks": "the first positions for ever, and a ring for the window",
        "paged": "blocks from a pool, with reference counts and copy on write",
        "prefix": "paged blocks that are found again by their tokens, whichever cache filled them",
        "quantised": "8-bit keys and values, within an error bound derived from the weights",
        "tied": "every second layer attends over the keys and values of the one before",
        "hybrid": "a short causal convolution and a gated recurrence before each attention layer; "
        "can be forked, not rolled back",
        "batched": "ragged batches with left padding, and single sequences",
    }
)
"""A description of each kind, in a line."""

__all__ = ["CACHES", "CACHE_KINDS"]
