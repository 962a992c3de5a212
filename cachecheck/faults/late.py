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
class Moment:
    """What a condition may ask about a call: its history, its own tokens, the calls before it."""

    past: int
    new: int
    calls: int
    window: int | None


When = Callable[[Moment], bool]

CONDITIONS: Mapping[str, tuple[str, When]] = {
    "third-call": ("from the third call on", lambda at: at.calls >= 2),
    "history-16": ("once the history is 16 or more", lambda at: at.past >= 16),
    "long-chunk": (
        "only when a chunk is longer than its history",
        lambda at: 0 < at.past < at.new,
    ),
    "block-boundary": (
        "only when the history fills whole blocks of 4",
        lambda at: at.past > 0 and at.past % 4 == 0,
    ),
    "window-boundary": (
        "only when the history fills the window exactly",
        lambda at: at.past == at.window,
    ),
    "twice-wrapped": (
        "once the window has been crossed twice over",
        lambda at: at.window is not None and at.past >= 2 * at.window,
    ),
    "big-chunk": ("only in calls of more than 8 tokens", lambda at: at.new > 8),
}
"""Names of conditions, what they say, and whether a call meets them."""


@dataclass(frozen=True, eq=False)
class Counted:
    """A cache, and the calls that have filled it."""

    cache: Cache
    calls: int


class Late:
    """Right until a condition is met, and wrong in the calls that meet it."""

    mutates_cache = False

    def __init__(
        self, right: StoredDecoder[Cache], wrong: StoredDecoder[Cache], when: When
    ) -> None:
        self.right, self.wrong, self.when = right, wrong, when
        self.vocab_size, self.window = right.vocab_size, right.window
        self.max_length, self.dtype = right.max_length, right.dtype

    def full(self, tokens: Any) -> Floats:
        """The right one's."""
        return self.right.full(tokens)

    def new_cache(self) -> Counted:
        """No tokens, no calls."""
        return Counted(self.right.new_cache(), 0)

    def extend(self, tokens: Any, cache: Counted) -> tuple[Floats, Counted]:
        """By the one whose turn it is."""
        at = Moment(cache.cache.length, len(tokens), cache.calls, self.window)
        decoder = self.wrong if self.when(at) else self.right
        rows, after = decoder.extend(tokens, cache.cache)
        return rows, Counted(after, cache.calls + 1)

    def state(self, cache: Counted) -> Any:
        """The arrays; the number of calls is nobody's business."""
        return self.right.state(cache.cache)


def late(fault: Fault, condition: str, smallest: str) -> Fault:
    """``fault`` under one of `CONDITIONS`."""
    text, when = CONDITIONS[condition]

    def make(seed: int, dtype: Precision = "float64") -> Late:
        return Late(fault.right(seed, dtype), fault.make(seed, dtype), when)

    return Fault(
        id=f"{fault.id}-{condition}",
        host=fault.host,
        kind=fault.kind,
        mechanism=fault.mechanism,
        symptom=fault.symptom,
        law=fault.law,
        reports=fault.reports,
        make=make,
        right=_counted(fault.right),
        smallest=smallest,
        when=text,
    )


def _counted(make: Make) -> Make:
    """The right decoder with the same wrapping."""

    def right(seed: int, dtype: Precision = "float64") -> Late:
        decoder = make(seed, dtype)
        return Late(decoder, decoder, lambda _at: False)

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
