"""Confirmation: the answer where no case is wrong, HOLDS or INCONCLUSIVE."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, replace

from cachecheck.errors import DecoderError, Unsupported
from cachecheck.judge.margin import NOISES, has_room, margin_of
from cachecheck.judge.tally import Tally
from cachecheck.judge.trial import Trial
from cachecheck.judge.vacuity import idle_rows_of, without_history
from cachecheck.laws.comparison import share_of_tolerance
from cachecheck.tolerance import RELATIVE
from cachecheck.verdict import Answer, Code, Finding, Margin, Reason

_SHORT = 2
"""Tokens that are too few for two of them to follow another."""


@dataclass(frozen=True)
class Confirmed:
    """HOLDS or INCONCLUSIVE, with the reasons, and the room if it was measured."""

    answer: Answer
    reasons: tuple[Reason, ...] = ()
    margin: Margin | None = None


def confirmed(tally: Tally, nearest: Trial, closest: Finding) -> Confirmed:
    """HOLDS, if a mistake could have been seen and the mildest would have stood out.

    Args:
        tally: one in which no case is wrong, doubtful or raised.
        nearest: the case that came closest to a violation.
        closest: the finding on that case.
    """
    idle = _without_history(tally) or _idle(tally)
    if idle is not None:
        return Confirmed(Answer.INCONCLUSIVE, (idle,))
    notes = (*left_out(tally), *_cut_short(tally), *_not_crossed(tally))
    if not closest.tolerance:
        return Confirmed(Answer.HOLDS, notes)  # counted, or compared byte by byte
    if promises(nearest, closest):
        promised = Reason(Code.PROMISED, value=nearest.decoder.capabilities.atol)
        return Confirmed(Answer.HOLDS, (*notes, promised))
    margin, doubt = _room(tally, nearest, closest)
    if doubt is not None:
        return Confirmed(Answer.INCONCLUSIVE, (doubt,), margin)
    return Confirmed(Answer.HOLDS, notes, margin)


def unconfirmed(tally: Tally) -> Reason | None:
    """The reason why equal rows show nothing, however many there were; None if they do.

    For a face that runs few steps at a time, and cannot ask that there be a history in each.
    """
    if tally.closest is None:
        return None
    nearest, closest = tally.closest
    idle = _idle(tally)
    if idle is not None or not closest.tolerance or promises(nearest, closest):
        return idle
    return _room(tally, nearest, closest)[1]


def promises(nearest: Trial, closest: Finding) -> bool:
    """True if the tolerance is the one that the decoder promises, which may hide mild mistakes."""
    promised = nearest.decoder.capabilities.atol
    return promised is not None and closest.tolerance <= promised


def _room(tally: Tally, nearest: Trial, closest: Finding) -> tuple[Margin | None, Reason | None]:
    """The margin to report, and the reason if the mildest mistake could look like rounding."""
    margins = _margins(tally, nearest)
    if not margins:
        return None, None
    worst = min(margins, key=lambda one: (one.signal or math.inf) / one.tolerance)
    if closest.difference == 0:  # equal to the bit: all that a mistake must exceed is a bit
        to_the_bit = replace(worst, tolerance=worst.noise)
        return None, _without_room(nearest, closest, to_the_bit, margins[0])
    return worst, _without_room(nearest, closest, worst, margins[0])


def _without_room(nearest: Trial, closest: Finding, worst: Margin, own: Margin) -> Reason | None:
    decoder = nearest.decoder
    exact = decoder.float64 is not None
    relative = share_of_tolerance(closest) * RELATIVE[decoder.precision]
    if not has_room(worst):
        return Reason(Code.NO_ROOM, margin=worst, has_float64=exact)
    if relative > min(own.tolerance, NOISES * own.noise):
        return Reason(
            Code.BEYOND_NOISE, value=relative, bound=own.noise, margin=own, has_float64=exact
        )
    return None


def _margins(tally: Tally, nearest: Trial) -> list[Margin]:
    """The margins of the decoder that came closest to a violation, and of the last one tried."""
    found: list[Margin] = []
    decoders = {id(one.decoder): one.decoder for one in (nearest, tally.latest) if one}
    for decoder in decoders.values():
        with contextlib.suppress(DecoderError, Unsupported):
            found.append(margin_of(decoder, tally.longest, exact=tally.law.exact))
    return found


def _without_history(tally: Tally) -> Reason | None:
    """The reason if several cases together made no call in which a cache could be wrong.

    A single case was chosen, and its answer is about that case alone.
    """
    law = tally.law
    if not (law.compares_rows and law.uses_cache) or tally.longest <= _SHORT or tally.examples <= 1:
        return None
    refused = bool(tally.refusals or tally.cut_short)
    missing = without_history(tally.covered, tally.examples, refused=refused)
    if missing is None:
        return None
    first = str(tally.refusals[0]) if tally.refusals else ""
    return Reason(missing, count=len(tally.refusals) or None, quoted=first)


def _idle(tally: Tally) -> Reason | None:
    """The reason why the decoder's rows could not show a mistake; None if they could."""
    if not tally.law.compares_rows or tally.latest is None:
        return None
    with contextlib.suppress(DecoderError, Unsupported):
        idle = idle_rows_of(tally.latest.decoder, cached=tally.law.uses_cache)
        return None if idle is None else Reason(idle)
    return None


def left_out(tally: Tally) -> tuple[Reason, ...]:
    """A note that cases were refused, with the reason of the first; empty for none."""
    if not tally.refusals:
        return ()
    first = str(tally.refusals[0])
    return (Reason(Code.LEFT_OUT, quoted=first, count=len(tally.refusals)),)


def _cut_short(tally: Tally) -> tuple[Reason, ...]:
    if not tally.cut_short:
        return ()
    return (Reason(Code.CUT_SHORT, quoted=tally.cut_short[0], count=len(tally.cut_short)),)


def _not_crossed(tally: Tally) -> tuple[Reason, ...]:
    if tally.crossed or tally.smallest_window is None:
        return ()
    return (Reason(Code.NOT_CROSSED, count=tally.smallest_window),)
