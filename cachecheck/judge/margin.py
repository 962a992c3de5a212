"""The room between rounding and the mildest mistake, for one decoder and one length.

Both are measured on the decoder's full pass, never on its cached one: the path that is judged must
not influence how strictly:

noise   the change of an entry by rounding alone. A prefix has the same rows as the sequence that it
        begins, in arrays of another shape, so that sums are ordered differently; and where the
        decoder can be run in float64, its own error against that. Never less than
        `tolerance.least_noise`.
signal  the change of some row by the mildest relevant mistake. A key that a mask hides or leaks
        moves rows as its token does (``influence``: change one token, look at the rows after it);
        positions that drift move rows as neighbours do that change places (``order``). Both at
        several places of the sequence; the smallest counts. Where rows show no order even in a few
        tokens, positions are no part of the decoder, and no mistake in them is relevant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from cachecheck.guard import Guarded, Rows
from cachecheck.schedule.tokens import changed, tokens_of_seed
from cachecheck.tolerance import RELATIVE, ROOM, least_noise, shares, tightened
from cachecheck.verdict import Margin

_FEW = 6
"""Tokens among which order shows if it ever does."""

FULL_ERRORS = 8.0
"""A cached run may be this many times further from float64 than the full run is itself.

Two right runs of one precision differ by their two errors, whose largest entries need not be alike:
twice is what is asked of attention kernels, where tens of thousands of entries are compared. Rows
of a short case have few.
"""


NOISES = 8.0
"""Cached rows may differ from the full pass by this many times its own rounding.

In a run of the reference it is about twice: compare the largest difference, as a share of its
tolerance, with the rounding of the margin. Beyond this the verdict is INCONCLUSIVE, no more.
"""


def has_room(margin: Margin) -> bool:
    """True if the mildest mistake stands out from rounding."""
    return margin.signal is None or margin.signal >= ROOM * margin.tolerance


def measure(decoder: Guarded, length: int, *, exact: bool = False) -> Margin:
    """The margin of ``decoder`` at ``length`` tokens.

    Args:
        decoder: whose full pass is measured, some 12 times.
        length: tokens.
        exact: True if the comparison in question has no rounding of its own, since both sides are
            the same calls of the same shapes.

    Raises:
        DecoderError: the decoder raised, or gave what cannot be used.
        Unsupported: it refuses so many tokens.
    """
    length = max(2, min(length, decoder.capabilities.max_length or length))
    tokens = tokens_of_seed(0, length, decoder.vocab_size)
    rows = decoder.full(tokens)
    least = least_noise(decoder.precision, length)
    twin = decoder.float64
    error = 0.0 if twin is None else full_error(decoder, twin, tokens)
    noise = least if exact else max(least, error, _between_shapes(decoder, tokens, rows))
    signals = [(_influence(decoder, tokens, rows), "influence")]
    if length > 2 and _ordered(decoder):
        signals.append((_order(decoder, tokens, rows), "order"))
    signal, probe = min((one for one in signals if one[0] > 0), default=(0.0, "influence"))
    usual = RELATIVE[decoder.precision]
    if signal == 0:
        return Margin(noise * usual, usual, None, probe, length)
    # The full pass's own error, where it is known, excuses as much: more than usual in deep ones.
    tolerance = usual * max(tightened(noise, signal), FULL_ERRORS * error)
    return Margin(noise * usual, tolerance, usual * signal, probe, length)


def margin_of(decoder: Guarded, length: int, *, exact: bool) -> Margin:
    """`measure`, once for each length: the full pass of a decoder does not change."""
    key = ("margin", length, exact)
    if key not in decoder.memo:
        decoder.memo[key] = measure(decoder, length, exact=exact)
    found: Margin = decoder.memo[key]
    return found


def full_error(decoder: Guarded, exact: Guarded, tokens: Sequence[int]) -> float:
    """The distance of the full pass itself from float64, in units of the tolerance.

    Raises:
        DecoderError: a decoder raised, or gave what cannot be used.
        Unsupported: it refuses these tokens.
    """
    fitting = list(tokens)[: decoder.capabilities.max_length]
    return _moved(decoder, exact.full(fitting), decoder.full(fitting))


def _between_shapes(decoder: Guarded, tokens: Sequence[int], rows: Rows) -> float:
    """The largest difference between the rows of prefixes and those of the whole sequence."""
    cuts = {len(tokens) // 2, len(tokens) - 1}
    return max(_moved(decoder, decoder.full(tokens[:cut]), rows[:cut]) for cut in sorted(cuts))


def _influence(decoder: Guarded, tokens: Sequence[int], rows: Rows) -> float:
    """The smallest change of the rows after a token when that token changes."""
    found = []
    for at in _spots(len(tokens) - 1):
        other = changed(tokens, at, at + 1, decoder.vocab_size)
        found.append(_shown(decoder, decoder.full(other)[at + 1 :], rows[at + 1 :]))
    return _least(found)


def _order(decoder: Guarded, tokens: Sequence[int], rows: Rows) -> float:
    """The smallest change of the rows after two neighbours when those change places."""
    found = []
    for at in _spots(len(tokens) - 2):
        other = list(tokens)
        other[at], other[at + 1] = other[at + 1], other[at]
        found.append(_shown(decoder, decoder.full(other)[at + 2 :], rows[at + 2 :]))
    return _least(found)


def _ordered(decoder: Guarded) -> bool:
    """True if the order of a few tokens changes the row after them, beyond rounding."""
    few = min(_FEW, decoder.capabilities.max_length or _FEW)
    tokens = tokens_of_seed(0, few, decoder.vocab_size)
    rows = decoder.full(tokens)
    return few > 2 and _order(decoder, tokens, rows) > 8 * least_noise(decoder.precision, few)


def _moved(decoder: Guarded, rows: Rows, expected: Rows) -> float:
    """The largest difference, as a share of its tolerance."""
    return float(shares(rows, expected, decoder.bounds(expected)).max(initial=0.0))


def _shown(decoder: Guarded, rows: Rows, expected: Rows) -> float:
    """The largest change of each column, and of those that change at all the median.

    A column that does not depend on attention must not speak for those that do.
    """
    most = shares(rows, expected, decoder.bounds(expected)).max(axis=0, initial=0.0)
    return float(np.median(most[most > 0])) if most.any() else 0.0


def _least(found: list[float]) -> float:
    """The smallest number above zero: a change of nothing is no mistake. Zero if there is none."""
    return min((one for one in found if one > 0), default=0.0)


def _spots(count: int) -> Iterator[int]:
    """A few indices below ``count``: early, in the middle, and the last, before the fewest rows."""
    yield from sorted({count // 4, count // 2, count - 1})
