"""No case broke a law: whether that means that it holds."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from cachecheck import wording
from cachecheck.errors import DecoderError, Unsupported
from cachecheck.guard import Guarded
from cachecheck.laws.base import closeness
from cachecheck.margin import NOISES, has_room, measure
from cachecheck.seen import Seen
from cachecheck.tolerance import RELATIVE
from cachecheck.vacuity import idle_rows, without_history
from cachecheck.verdict import Answer, Finding, Margin, Verdict

T = TypeVar("T")

_UNCACHED = frozenset({"prefix"})
"""Laws that make no cached call; a decoder that cannot is no reason for them to say so."""

_SHORT = 2
"""Tokens that are too few for two of them to follow another."""

_COUNTED = frozenset({"overflow", "work"})
"""Laws that compare no rows."""


def held(seen: Seen, closest: Finding) -> Verdict:
    """HOLDS, if a mistake could have been seen and the mildest would have stood out."""
    nothing = _for_nothing(seen)
    if nothing:
        return seen.verdict(Answer.INCONCLUSIVE, wording.for_nothing(nothing))
    verdict = seen.verdict(Answer.HOLDS, _notes(seen))
    if not closest.tolerance:
        return verdict  # counted, or compared byte by byte
    assert seen.nearest is not None  # noqa: S101 - kept with `closest`
    promised = seen.nearest.decoder.capabilities.atol
    if promised and closest.tolerance <= promised:  # its promise dwarfs rounding, maybe mistakes
        said = "; ".join(filter(None, [verdict.message, wording.promised(promised)]))
        return replace(verdict, message=said)
    margins = _margins(seen)
    if not margins:
        return verdict
    worst = min(margins, key=lambda one: (one.signal or math.inf) / one.tolerance)
    if closest.difference == 0:  # equal to the bit: all that a mistake must exceed is a bit
        worst = replace(worst, tolerance=worst.noise)
    else:
        verdict = replace(verdict, margin=worst)
    exact = seen.nearest.decoder.float64 is not None
    relative = closeness(closest) * RELATIVE[seen.nearest.decoder.precision]
    if not has_room(worst):
        message = wording.no_room(worst, exact=exact)
    elif relative > min(margins[0].tolerance, NOISES * margins[0].noise):
        message = wording.between(relative, margins[0], exact=exact)
    else:
        return verdict
    return replace(verdict, answer=Answer.INCONCLUSIVE, message=message)


def _margins(seen: Seen) -> list[Margin]:
    """Of the decoder whose rows came closest to a violation, and of the last one tried."""
    found: list[Margin] = []
    decoders = {id(drawn.decoder): drawn.decoder for drawn in (seen.nearest, seen.tried) if drawn}
    for decoder in decoders.values():
        with contextlib.suppress(DecoderError, Unsupported):
            exact = seen.law.exact
            key = ("margin", seen.longest, exact)
            measured = partial(measure, decoder, seen.longest, exact=exact)
            found.append(_once(decoder, key, measured))
    return found


def _once(decoder: Guarded, key: object, compute: Callable[[], T]) -> T:
    """What was measured on this decoder before, or is now: its full pass does not change."""
    if key not in decoder.remembered:
        decoder.remembered[key] = compute()
    found: T = decoder.remembered[key]
    return found


def _for_nothing(seen: Seen) -> str:
    """Why no mistake could have been seen; empty if one could."""
    if seen.law.id in _COUNTED or seen.tried is None:
        return ""
    reason = without_history(seen.covered, seen.examples) if seen.longest > _SHORT else ""
    if reason and seen.refusals:
        reason += f" ({len(seen.refusals)} cases were refused: {seen.refusals[0]})"
    if not reason:
        with contextlib.suppress(DecoderError, Unsupported):
            decoder, cached = seen.tried.decoder, seen.law.id not in _UNCACHED
            looked = partial(idle_rows, decoder, cached=cached)
            reason = _once(decoder, ("idle", cached), looked)
    return reason


def _notes(seen: Seen) -> str:
    """What a reader of HOLDS should know as well."""
    window = None if seen.crossed else seen.window
    uncrossed = "" if window is None else wording.not_crossed(window)
    cut_short = wording.cut_short(seen.cut_short)
    return "; ".join(filter(None, [wording.left_out(seen.refusals), cut_short, uncrossed]))
