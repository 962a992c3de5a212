"""Faults that strike late or rarely: the same mistakes, under a condition.

A right decoder and a wrong one over the same weights take turns, call by call; their caches are of
the same kind, so that each goes on from the other's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cachecheck.faults.bands import BANDS
from cachecheck.faults.fault import Fault, Make
from cachecheck.faults.masks import MASKS
from cachecheck.faults.positions import POSITIONS
from cachecheck.faults.scores import SCORES
from cachecheck.reference.cache import Cache
from cachecheck.reference.config import Precision
from cachecheck.reference.stored import StoredDecoder
from cachecheck.reference.weights import Floats


@dataclass(frozen=True)
class CallFacts:
    """Facts about a call that a condition may use: past, new tokens, calls before, window."""

    past: int
    new: int
    calls: int
    window: int | None


Condition = Callable[[CallFacts], bool]

CONDITIONS: Mapping[str, tuple[str, Condition]] = {
    "third-call": ("from the third call on", lambda call: call.calls >= 2),
    "history-16": ("once the history is 16 or more", lambda call: call.past >= 16),
    "long-chunk": (
        "only when a chunk is longer than its history",
        lambda call: 0 < call.past < call.new,
    ),
    "block-boundary": (
        "only when the history fills whole blocks of 4",
        lambda call: call.past > 0 and call.past % 4 == 0,
    ),
    "window-boundary": (
        "only when the history fills the window exactly",
        lambda call: call.past == call.window,
    ),
    "twice-wrapped": (
        "once the window has been crossed twice over",
        lambda call: call.window is not None and call.past >= 2 * call.window,
    ),
    "big-chunk": ("only in calls of more than 8 tokens", lambda call: call.new > 8),
}
"""Conditions by name: a description, and a function that is True for a call that meets it."""


@dataclass(frozen=True, eq=False)
class CountedCache:
    """A cache, and the number of calls that have filled it."""

    cache: Cache
    calls: int


class Late:
    """Right until a condition is met, and wrong in the calls that meet it."""

    mutates_cache = False

    def __init__(
        self, right: StoredDecoder[Cache], wrong: StoredDecoder[Cache], condition: Condition
    ) -> None:
        self.right, self.wrong, self.condition = right, wrong, condition
        self.vocab_size, self.window = right.vocab_size, right.window
        self.max_length, self.dtype = right.max_length, right.dtype

    def full(self, tokens: Any) -> Floats:
        """The right one's."""
        return self.right.full(tokens)

    def new_cache(self) -> CountedCache:
        """No tokens, no calls."""
        return CountedCache(self.right.new_cache(), 0)

    def extend(self, tokens: Any, cache: CountedCache) -> tuple[Floats, CountedCache]:
        """Extend with the decoder whose turn it is."""
        call = CallFacts(cache.cache.length, len(tokens), cache.calls, self.window)
        decoder = self.wrong if self.condition(call) else self.right
        rows, after = decoder.extend(tokens, cache.cache)
        return rows, CountedCache(after, cache.calls + 1)

    def state(self, cache: CountedCache) -> Any:
        """The arrays, without the number of calls."""
        return self.right.state(cache.cache)


def late(fault: Fault, condition: str, smallest: str) -> Fault:
    """``fault`` under one of `CONDITIONS`."""
    text, is_met = CONDITIONS[condition]

    def make(seed: int, dtype: Precision = "float64") -> Late:
        return Late(fault.right(seed, dtype), fault.make(seed, dtype), is_met)

    return Fault(
        id=f"{fault.id}-{condition}",
        host=fault.host,
        kind=fault.kind,
        mechanism=fault.mechanism,
        symptom=fault.symptom,
        law=fault.law,
        reports=fault.reports,
        make=make,
        right=_right_late(fault.right),
        smallest=smallest,
        when=text,
    )


def _right_late(make: Make) -> Make:
    """A factory of the right decoder in the same wrapping."""

    def right(seed: int, dtype: Precision = "float64") -> Late:
        decoder = make(seed, dtype)
        return Late(decoder, decoder, lambda _call: False)

    return right


_ALWAYS = {fault.id: fault for fault in (*MASKS, *POSITIONS, *SCORES, *BANDS)}

LATE = tuple(
    late(_ALWAYS[f"copying-{name}"], condition, smallest)
    for name, condition, smallest in (
        ("mask-one-far", "third-call", "1+1+2"),
        ("mask-one-far", "history-16", "16+2"),
        ("mask-one-far", "long-chunk", "1+2"),
        ("mask-one-short", "third-call", "1+1+1"),
        ("mask-one-short", "history-16", "16+1"),
        ("mask-missing", "big-chunk", "9"),
        ("mask-missing", "block-boundary", "4+2"),
        ("mask-top-left", "long-chunk", "1+2"),
        ("mask-one-position", "history-16", "16+2"),
        ("mask-square-cut", "block-boundary", "4+1"),
        ("positions-behind", "third-call", "1+1+1"),
        ("positions-restart", "history-16", "16+1"),
        ("positions-one-for-all", "long-chunk", "1+2"),
        ("keys-rotated-twice", "third-call", "1+1+1"),
        ("bias-of-chunk", "history-16", "16+1"),
        ("window-one-wide", "twice-wrapped", "8+1"),
        ("window-of-last-row", "window-boundary", "4+2"),
    )
)
