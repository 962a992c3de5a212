"""The failing case of a search made as small as it gets.

Shrinking keeps the identity of the failure it began with, (law, kind): a smaller case that fails in
another way does not count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cachecheck.errors import DecoderError, DecoderHangsError, Unsupported
from cachecheck.guard import Guarded
from cachecheck.judge import Judged, Tally, Trial, examine
from cachecheck.judge.conclude import errored, smallest_raised, violated
from cachecheck.schedule import Case
from cachecheck.shrink import shrink
from cachecheck.verdict import Code, Finding, Reason, Verdict


class InterruptedSearchError(KeyboardInterrupt):
    """Ctrl-C while a failing case was being shrunk: ``verdict`` is what was known by then."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__()
        self.verdict = verdict


def smallest_violation(
    tally: Tally, make: Callable[[int], Guarded], first_seed: int | None
) -> Verdict:
    """The violation that ended the search, shrunk.

    At the end the smallest case must fail once more, and by as much: else it is no proper failure.

    Args:
        tally: with a broken case.
        make: a decoder from its seed.
        first_seed: of the decoder to try before anything else, one decoder less to explain; None
            to keep the case's own.

    Raises:
        InterruptedSearchError: Ctrl-C.
    """
    assert tally.broken is not None  # noqa: S101 - asked by the caller
    failing = _Failing(tally, *tally.broken)
    try:
        if not _shrunk(failing, make, first_seed):
            return failing.verdict()
        repeats = _repeats(failing)
    except KeyboardInterrupt as stop:
        raise InterruptedSearchError(failing.verdict(Code.UNFINISHED)) from stop
    if not repeats:
        return replace(failing.verdict(Code.UNREPEATABLE), repeatable=False)
    return failing.verdict(shrunk=True)


def _shrunk(failing: _Failing, make: Callable[[int], Guarded], first_seed: int | None) -> bool:
    """Make it small; False where a call hangs on the way, and each further one might."""
    try:
        if first_seed not in (None, failing.trial.decoder_seed):
            plain = Trial(first_seed, make(first_seed), failing.trial.case)
            if plain.fits():
                failing.fails_on(plain)
        case, least = failing.trial.case, failing.tally.law.least_calls
        shrink(case, failing.fails, least_calls=least)
    except DecoderHangsError:
        return False
    return True


def _repeats(failing: _Failing) -> bool:
    """True if the smallest case fails once more, and by as much."""
    before = failing.judged.finding
    again = failing.fails(failing.trial.case)
    return again and abs(failing.judged.finding.difference - before.difference) <= before.tolerance


class _Failing:
    """The smallest failing trial so far, at any time."""

    def __init__(self, tally: Tally, trial: Trial, judged: Judged) -> None:
        self.tally, self.trial, self.judged = tally, trial, judged
        violation = judged.finding.violation
        self.kind = violation.kind if violation else None

    def fails(self, case: Case) -> bool:
        """True if ``case`` fails in the same way; it is the smallest from now on then."""
        return self.fails_on(replace(self.trial, case=case))

    def fails_on(self, trial: Trial) -> bool:
        """`fails`, for another decoder.

        Raises:
            DecoderHangsError: a call did not return in time.
        """
        try:
            judged = examine(self.tally.law, trial.decoder, trial.case)
        except DecoderHangsError:
            raise
        except (DecoderError, Unsupported):
            return False
        violation = judged.finding.violation
        if not judged.wrong or violation is None or violation.kind != self.kind:
            return False
        self.trial, self.judged = trial, judged
        return True

    def verdict(self, *codes: Code, shrunk: bool = False) -> Verdict:
        """VIOLATED, with the case as it stands."""
        found = violated(self.tally, self.trial, self.judged, shrunk=shrunk)
        return replace(found, reasons=(*found.reasons, *(Reason(code) for code in codes)))


def smallest_error(tally: Tally) -> tuple[Verdict, BaseException]:
    """The smallest case on which the decoder raised, and what it raised.

    Raises:
        InterruptedSearchError: Ctrl-C.
    """
    trial, error = smallest_raised(tally)
    latest = [(trial, error)]

    def fails(case: Case) -> bool:
        tried = replace(trial, case=case)
        try:
            examine(tally.law, trial.decoder, case)
        except Unsupported:
            return False
        except DecoderError as another:
            latest.append((tried, another))
            return True
        return False

    try:
        shrink(trial.case, fails, least_calls=tally.law.least_calls)
    except KeyboardInterrupt as stop:
        known = errored(tally, *latest[-1])
        reasons = (*known.reasons, Reason(Code.UNFINISHED))
        raise InterruptedSearchError(replace(known, reasons=reasons)) from stop
    trial, error = latest[-1]
    return errored(tally, trial, error, shrunk=True), error.__cause__ or error


def smallest_idle(tally: Tally, verdict: Verdict) -> Verdict:
    """A case in which nothing moves, though something should in one at least, made small."""
    law, trial = tally.law, tally.latest
    assert trial is not None  # noqa: S101 - the law was violated on it
    assert law.unmoved is not None  # noqa: S101 - every law that need not hold everywhere has one

    def still(case: Case) -> bool:
        try:
            return law.try_on(trial.decoder, case).difference == 0
        except (DecoderError, Unsupported):
            return False

    case = shrink(trial.case, still, least_calls=law.least_calls)
    found = law.unmoved(case, Finding(0.0, verdict.tolerance or 0.0))
    return replace(
        verdict,
        schedule=str(case.schedule),
        tokens=case.tokens,
        violation=found.violation,
        shrunk=True,
    )
