"""Conclusions: from the cases that were tried to one answer."""

from __future__ import annotations

from dataclasses import replace

from cachecheck.errors import DecoderError, DecoderHangsError
from cachecheck.guard import NotOfferedError, RefusedError
from cachecheck.judge.confirm import confirmed, left_out
from cachecheck.judge.judgement import Judged
from cachecheck.judge.tally import Tally
from cachecheck.judge.trial import Trial
from cachecheck.laws import Law
from cachecheck.laws.comparison import share_of_tolerance
from cachecheck.schedule.coverage import as_pairs
from cachecheck.shrink import size_of
from cachecheck.verdict import Answer, Code, Finding, Margin, Reason, Verdict


def alone(law: Law, trial: Trial) -> Verdict:
    """The verdict on one case by itself, as of a search that met this case alone.

    Raises:
        DecoderHangsError: a call did not return in time.
    """
    tally = Tally(law)
    tally.attempt(trial)
    return concluded(tally)


def concluded(tally: Tally) -> Verdict:  # noqa: PLR0911 - one return for each kind of answer
    """The verdict on the cases of ``tally``; a failing case is shown as tried, not made smaller."""
    if tally.broken is not None:
        return violated(tally, *tally.broken)
    if tally.raised:
        trial, error = smallest_raised(tally)
        return errored(tally, trial, error)
    if tally.doubtful:
        return _doubtful(tally)
    if tally.closest is None:
        return _verdict(tally, Answer.UNSUPPORTED, (_refused(tally),))
    if not tally.law.everywhere:
        return _shown_somewhere(tally, *tally.closest)
    if len(tally.cut_short) == tally.examples:
        return _verdict(
            tally, Answer.UNSUPPORTED, (Reason(Code.REFUSED, quoted=tally.cut_short[0]),)
        )
    drawn = tally.tried_cases
    if tally.refusals and 10 * tally.with_history < drawn:
        return _mostly_refused(tally, drawn)
    found = confirmed(tally, *tally.closest)
    return _verdict(tally, found.answer, found.reasons, margin=found.margin)


def violated(tally: Tally, trial: Trial, judged: Judged, *, shrunk: bool = False) -> Verdict:
    """The verdict that a case is wrong."""
    return _verdict(
        tally, Answer.VIOLATED, judged.notes, shown=(trial, judged.finding), shrunk=shrunk
    )


def errored(tally: Tally, trial: Trial, error: DecoderError, *, shrunk: bool = False) -> Verdict:
    """The verdict that the decoder raised, or gave what cannot be used; nothing was compared."""
    reason = Reason(Code.RAISED, quoted=str(error))
    return _verdict(tally, Answer.ERROR, (reason,), shown=(trial, None), shrunk=shrunk)


def hung(tally: Tally, hang: DecoderHangsError) -> Verdict:
    """The verdict that a call did not return in time, on the case as it was drawn."""
    reason = Reason(Code.HANGS, quoted=str(hang))
    shown = (tally.raised[-1][0], None) if tally.raised else None
    return _verdict(tally, Answer.ERROR, (reason,), shown=shown, compared=False)


def interrupted(tally: Tally) -> Verdict | None:
    """The verdict known in the middle of a search: a violation, else an error, else None."""
    if tally.broken is None and not tally.raised:
        return None
    known = concluded(tally)
    return replace(known, reasons=(*known.reasons, Reason(Code.UNFINISHED)))


def unusable(tally: Tally, answer: Answer, reason: Reason) -> Verdict:
    """The verdict that nothing could be compared, for one reason."""
    return _verdict(tally, answer, (reason,), compared=False)


def smallest_raised(tally: Tally) -> tuple[Trial, DecoderError]:
    """The smallest case on which the decoder raised, and its error."""
    return min(tally.raised, key=lambda pair: size_of(pair[0].case))


def refusal_reason(refusal: Exception) -> Reason:
    """The reason why a law says nothing: missing members, or the decoder's own words."""
    if isinstance(refusal, NotOfferedError):
        return Reason(Code.NOT_OFFERED, quoted=refusal.members)
    return Reason(Code.REFUSED, quoted=str(refusal))


def _refused(tally: Tally) -> Reason:
    return refusal_reason(tally.refusals[0]) if tally.refusals else Reason(Code.NO_CASE)


def _doubtful(tally: Tally) -> Verdict:
    """The verdict on differences that may be rounding or a mistake."""
    trial, judged = min(tally.doubtful, key=lambda pair: size_of(pair[0].case))
    decoder = trial.decoder
    largest = max(share_of_tolerance(one.finding) for _, one in tally.doubtful)
    count, of = len(tally.doubtful), tally.examples
    errors = [one.full_error for _, one in tally.doubtful]
    if all(error is not None for error in errors):
        most = max(error for error in errors if error is not None)
        reason = Reason(
            Code.FULL_AS_FAR,
            value=largest,
            bound=most,
            precision=decoder.precision,
            count=count,
            of=of,
        )
    elif decoder.precision == "float64" and decoder.capabilities.dtype is None:
        reason = Reason(Code.UNDECLARED, value=judged.finding.difference, count=count, of=of)
    else:
        reason = Reason(
            Code.DOUBTFUL, value=largest, precision=decoder.precision, count=count, of=of
        )
    return _verdict(tally, Answer.INCONCLUSIVE, (reason,), shown=(trial, judged.finding))


def _shown_somewhere(tally: Tally, trial: Trial, most: Finding) -> Verdict:
    """The verdict of a law that one case can establish; ``most`` has the largest difference."""
    if most.difference > most.tolerance:
        return _verdict(tally, Answer.HOLDS, left_out(tally))
    if most.difference > 0:
        faint = Reason(Code.TOO_FAINT, value=most.difference, bound=most.tolerance)
        return _verdict(tally, Answer.INCONCLUSIVE, (faint,))
    assert tally.law.unmoved is not None  # noqa: S101 - every such law has one
    shown = tally.latest or trial
    broken = tally.law.unmoved(shown.case, Finding(0.0, most.tolerance))
    return _verdict(tally, Answer.VIOLATED, (), shown=(shown, broken))


def _mostly_refused(tally: Tally, drawn: int) -> Verdict:
    """The verdict that too few cases with a history were left to conclude from."""
    first = tally.refusals[0]
    reason = Reason(Code.MOSTLY_REFUSED, quoted=str(first), count=len(tally.refusals), of=drawn)
    # Nearly always the law's own operation: only trivial uses of it may be allowed.
    own = isinstance(first, RefusedError) and first.operation == tally.law.id
    return _verdict(tally, Answer.UNSUPPORTED if own else Answer.INCONCLUSIVE, (reason,))


def _verdict(
    tally: Tally,
    answer: Answer,
    reasons: tuple[Reason, ...] = (),
    *,
    shown: tuple[Trial, Finding | None] | None = None,
    shrunk: bool = False,
    margin: Margin | None = None,
    compared: bool = True,
) -> Verdict:
    """A verdict of ``answer`` with all that is known.

    ``shown`` is the failing case, if there is one; ``compared`` False where no difference counts.
    """
    trial, finding = shown or (None, tally.closest[1] if tally.closest and compared else None)
    return Verdict(
        law=tally.law.id,
        answer=answer,
        examples=tally.examples,
        largest_difference=finding.difference if finding else None,
        tolerance=finding.tolerance if finding else None,
        schedule=str(trial.case.schedule) if trial else None,
        tokens=trial.case.tokens if trial else None,
        decoder_seed=trial.decoder_seed if trial else None,
        violation=finding.violation if finding else None,
        reasons=reasons,
        covered=as_pairs(tally.covered),
        margin=margin,
        shrunk=shrunk,
    )
