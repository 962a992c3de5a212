"""No case broke a law: whether that means that it holds."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from cachecheck.errors import DecoderError, Unsupported
from cachecheck.guard import Guarded
from cachecheck.judge.margin import NOISES, has_room, measure
from cachecheck.judge.vacuity import idle_rows, without_history
from cachecheck.laws.base import closeness
from cachecheck.search import sentences
from cachecheck.search.tally import Tally
from cachecheck.tolerance import RELATIVE
from cachecheck.verdict import Answer, Finding, Margin, Verdict

T = TypeVar("T")

_UNCACHED = frozenset({"prefix"})
"""Laws that make no cached call; a decoder that cannot is no reason for them to say so."""

_SHORT = 2
"""Tokens that are too few for two of them to follow another."""

_COUNTED = frozenset({"overflow", "work"})
"""Laws that compare no rows."""


def held(tally: Tally, closest: Finding) -> Verdict:
    """HOLDS, if a mistake could have been seen and the mildest would have stood out."""
    nothing = _for_nothing(tally)
    if nothing:
        return tally.verdict(Answer.INCONCLUSIVE, sentences.for_nothing(nothing))
    verdict = tally.verdict(Answer.HOLDS, _notes(tally))
    if not closest.tolerance:
        return verdict  # counted, or compared byte by byte
    assert tally.nearest is not None  # noqa: S101 - kept with `closest`
    promised = tally.nearest.decoder.capabilities.atol
    if promised and closest.tolerance <= promised:  # its promise dwarfs rounding, maybe mistakes
        said = "; ".join(filter(None, [verdict.message, sentences.promised(promised)]))
        return replace(verdict, message=said)
    margins = _margins(tally)
    if not margins:
        return verdict
    worst = min(margins, key=lambda one: (one.signal or math.inf) / one.tolerance)
    if closest.difference == 0:  # equal to the bit: all that a mistake must exceed is a bit
        worst = replace(worst, tolerance=worst.noise)
    else:
        verdict = replace(verdict, margin=worst)
    exact = tally.nearest.decoder.float64 is not None
    relative = closeness(closest) * RELATIVE[tally.nearest.decoder.precision]
    if not has_room(worst):
        message = sentences.no_room(worst, exact=exact)
    elif relative > min(margins[0].tolerance, NOISES * margins[0].noise):
        message = sentences.between(relative, margins[0], exact=exact)
    else:
        return verdict
    return replace(verdict, answer=Answer.INCONCLUSIVE, message=message)


def _margins(tally: Tally) -> list[Margin]:
    """Of the decoder whose rows came closest to a violation, and of the last one tried."""
    found: list[Margin] = []
    decoders = {id(drawn.decoder): drawn.decoder for drawn in (tally.nearest, tally.tried) if drawn}
    for decoder in decoders.values():
        with contextlib.suppress(DecoderError, Unsupported):
            exact = tally.law.exact
            key = ("margin", tally.longest, exact)
            measured = partial(measure, decoder, tally.longest, exact=exact)
            found.append(_once(decoder, key, measured))
    return found


def _once(decoder: Guarded, key: object, compute: Callable[[], T]) -> T:
    """What was measured on this decoder before, or is now: its full pass does not change."""
    if key not in decoder.remembered:
        decoder.remembered[key] = compute()
    found: T = decoder.remembered[key]
    return found


def _for_nothing(tally: Tally) -> str:
    """Why no mistake could have been seen; empty if one could."""
    if tally.law.id in _COUNTED or tally.tried is None:
        return ""
    reason = without_history(tally.covered, tally.examples) if tally.longest > _SHORT else ""
    if reason and tally.refusals:
        reason += f" ({len(tally.refusals)} cases were refused: {tally.refusals[0]})"
    if not reason:
        with contextlib.suppress(DecoderError, Unsupported):
            decoder, cached = tally.tried.decoder, tally.law.id not in _UNCACHED
            looked = partial(idle_rows, decoder, cached=cached)
            reason = _once(decoder, ("idle", cached), looked)
    return reason


def _notes(tally: Tally) -> str:
    """What a reader of HOLDS should know as well."""
    window = None if tally.crossed else tally.window
    uncrossed = "" if window is None else sentences.not_crossed(window)
    cut_short = sentences.cut_short(tally.cut_short)
    return "; ".join(filter(None, [sentences.left_out(tally.refusals), cut_short, uncrossed]))
