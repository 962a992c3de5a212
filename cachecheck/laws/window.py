"""The law that a bounded cache is still right past its window, and stays bounded."""

from __future__ import annotations

from cachecheck.errors import Unsupported
from cachecheck.guard import Guarded, NotOfferedError
from cachecheck.guard.answers import LayerBytes
from cachecheck.laws.base import Law
from cachecheck.laws.comparison import RowComparison, gather
from cachecheck.schedule import Case
from cachecheck.verdict import Finding, Violation

_SLACK = 8
"""Tokens by which a layer may grow after it has evicted, beside its window: eviction in blocks."""


def check(decoder: Guarded, case: Case) -> Finding:
    """Feed the tokens, compare the rows past the window with ``full``, and measure the layers.

    Raises:
        Unsupported: no window, or a case that does not cross it.
    """
    window = decoder.capabilities.window
    if window is None:
        raise NotOfferedError("window")
    if len(case.tokens) <= window:
        raise Unsupported(f"the window of {window} is not crossed")
    expected = decoder.full(case.tokens)
    bounds = decoder.bounds(expected)
    comparison = RowComparison(
        "window", "rows", "past the window, rows differ from those of the windowed full pass"
    )
    findings, cache, layer_sizes = [Finding(0.0, 0.0)], decoder.new_cache(), []
    for call, (start, stop) in enumerate(case.schedule.spans, start=1):
        rows, cache = decoder.extend(case.tokens[start:stop], cache)
        first = max(start, window)
        if first < stop:
            skipped, due = first - start, slice(first, stop)
            place = {"position": first, "call": call, "skipped": skipped}
            findings.append(comparison.of(rows[skipped:], expected[due], bounds[due], **place))
        layer_sizes.append([_byte_count(layer) for layer in decoder.snapshot(cache) or ()])
    return gather([*findings, *_grown(case, layer_sizes, window)])


def _byte_count(layer: LayerBytes) -> int:
    return sum(len(data) for *_, data in layer)


def _grown(case: Case, layer_sizes: list[list[int]], window: int) -> list[Finding]:
    """A violation where a layer evicts, and later grows on all the same.

    A cache that keeps every token and masks is right as well, so it takes an eviction to tell that
    a layer means to be bounded: less growth than the first two calls had, which must lie within the
    window. A layer may evict late, at twice the window, or in blocks (`_SLACK`).
    """
    spans = case.schedule.spans
    if len(spans) < 3 or spans[1][1] > window:
        return []
    for sizes in zip(*layer_sizes, strict=True):
        token = (sizes[1] - sizes[0]) / (spans[1][1] - spans[1][0])
        most = evicted = 0.0
        for call, ((start, stop), size) in enumerate(zip(spans, sizes, strict=True), start=1):
            room = token * (window + _SLACK + stop - start)
            if evicted > 0 and size > most + room:
                message = f"a layer evicted and then kept growing: {size} bytes after {stop} tokens"
                broken = Violation("window", "payload", None, None, 0.0, message, call=call)
                return [Finding(0.0, 0.0, broken)]
            if evicted <= 0:
                most = max(most, size)
                evicted = sizes[0] + token * (stop - spans[0][1]) - size
    return []


LAW = Law(
    id="window",
    statement="Past its window a cache gives the rows of the windowed full pass; a layer that "
    "evicts stays bounded.",
    reason="At eviction, positions, slots and masks easily come apart; and a window is meant to "
    "bound the cache.",
    not_claimed="That the cache is bounded, without state(cache) or where it keeps every token and "
    "masks.",
    check=check,
    needs=("window",),
    crosses=True,
)
