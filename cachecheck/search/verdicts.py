"""What the cases that a search has met amount to: one verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cachecheck.errors import DecoderError, Unsupported
from cachecheck.guard import Guarded
from cachecheck.laws.base import closeness
from cachecheck.laws.sensitivity import unmoved
from cachecheck.schedule import Case
from cachecheck.search import sentences
from cachecheck.search.cases import Drawn
from cachecheck.search.confirm import held
from cachecheck.search.tally import Tally
from cachecheck.shrink import shrink, size_of
from cachecheck.verdict import AS_DRAWN, Answer, Finding, Verdict


def violated(
    tally: Tally, make: Callable[[int], Guarded], first_seed: int
) -> tuple[Verdict, BaseException | None]:
    """The violation, shrunk, and what was raised for its smallest case.

    The first decoder seed is tried before anything else: one decoder less to explain. At the
    end the smallest case must fail once more, and by as much: else it is no proper failure.
    """
    assert tally.smallest is not None  # noqa: S101 - kept before LawBrokenError is raised
    drawn = tally.smallest[0]
    if drawn.decoder_seed != first_seed and not tally.known:  # else it would be stored twice
        plain = Drawn(first_seed, make(first_seed), drawn.case)
        if plain.fits() and tally.breaks(plain):
            drawn = plain

    def fails(case: Case) -> bool:
        return tally.breaks(replace(drawn, case=case))

    shrink(drawn.case, fails, least_calls=tally.law.least_calls)
    drawn, finding = tally.smallest
    repeats = tally.breaks(drawn)
    apart = abs(tally.smallest[1].difference - finding.difference)
    if not repeats or apart > finding.tolerance:
        return unrepeatable(tally), tally.broken
    return tally.verdict(Answer.VIOLATED), tally.broken


def unrepeatable(tally: Tally) -> Verdict:
    """A violation that came and went: real, for rows were wrong, but not the case's alone."""
    if tally.smallest is None or tally.smallest[1].violation is None:
        return tally.verdict(Answer.ERROR, sentences.UNREPEATABLE)
    drawn, finding = tally.smallest
    broken = replace(
        tally.smallest[1].violation, kind="unrepeatable", message=sentences.UNREPEATABLE
    )
    tally.smallest = (drawn, replace(finding, violation=broken))
    return tally.verdict(Answer.VIOLATED)


def hung(tally: Tally, hang: BaseException) -> Verdict:
    """A call that did not return in time, on the case as it was drawn."""
    if tally.raised:
        tally.smallest = (tally.raised[-1][0], Finding(0.0, 0.0))
    return _without_numbers(tally.verdict(Answer.ERROR, f"{hang}; {AS_DRAWN}"))


def errored(tally: Tally) -> tuple[Verdict, BaseException]:
    """The smallest case on which the decoder raised, or gave what is not rows."""
    drawn, error = min(tally.raised, key=lambda pair: size_of(pair[0].case))
    latest = [error]

    def fails(case: Case) -> bool:
        try:
            tally.law.examine(drawn.decoder, case)
        except Unsupported:
            return False
        except DecoderError as another:
            latest.append(another)
            tally.raised.append((replace(drawn, case=case), another))
            return True
        return False

    case = shrink(drawn.case, fails, least_calls=tally.law.least_calls)
    tally.smallest = (replace(drawn, case=case), Finding(0.0, 0.0))
    verdict = tally.verdict(Answer.ERROR, str(latest[-1]))
    return _without_numbers(verdict), latest[-1].__cause__ or latest[-1]


def in_doubt(tally: Tally) -> Verdict:
    """Differences that may be rounding or may be not, and what would settle it."""
    tally.smallest = min(tally.doubtful, key=lambda pair: size_of(pair[0].case))
    drawn, finding = tally.smallest
    largest = max(closeness(found) for _, found in tally.doubtful)
    count, tried = len(tally.doubtful), tally.examples
    message = sentences.in_doubt(drawn.decoder, largest, finding.difference, count, tried)
    return tally.verdict(Answer.INCONCLUSIVE, message)


def interrupted(tally: Tally) -> Verdict | None:
    """What is known when Ctrl-C comes: a violation, else an error, else nothing."""
    if tally.smallest is not None:
        return tally.verdict(Answer.VIOLATED, sentences.UNFINISHED)
    if not tally.raised:
        return None
    drawn, error = min(tally.raised, key=lambda pair: size_of(pair[0].case))
    tally.smallest = (drawn, Finding(0.0, 0.0))
    return _without_numbers(tally.verdict(Answer.ERROR, f"{error}; {sentences.UNFINISHED}"))


def conclusion(tally: Tally) -> tuple[Verdict, BaseException | None]:
    """No case broke the law: does that mean that it holds?"""
    if tally.raised:
        return errored(tally)
    if tally.doubtful:
        return in_doubt(tally), None
    if tally.closest is None:
        return tally.verdict(Answer.UNSUPPORTED, (tally.refusals or ["no case to try"])[0]), None
    if not tally.law.everywhere:
        return _shown_somewhere(tally, tally.closest), None
    drawn = len(tally.refusals) + tally.examples
    if tally.refusals and 10 * tally.with_history < drawn:
        message = sentences.mostly_refused(tally.refusals, drawn)
        # The law's own operation, as good as always: a rollback to where one is may be allowed.
        own = tally.refusals[0].startswith(f"{tally.law.id} refused")
        return tally.verdict(Answer.UNSUPPORTED if own else Answer.INCONCLUSIVE, message), None
    return held(tally, tally.closest), None


def _shown_somewhere(tally: Tally, most: Finding) -> Verdict:
    """A law that one case can establish: ``most`` is the largest difference that was tally."""
    if most.difference > most.tolerance:
        return tally.verdict(Answer.HOLDS, sentences.left_out(tally.refusals))
    if most.difference > 0:
        return tally.verdict(Answer.INCONCLUSIVE, sentences.too_faint(most))
    assert tally.tried is not None  # noqa: S101 - a case was tried, or `closest` were None
    idle = _idle(tally, tally.tried)
    broken = unmoved(idle.case, Finding(0.0, most.tolerance))
    tally.smallest = (idle, broken)
    return tally.verdict(Answer.VIOLATED)


def _idle(tally: Tally, drawn: Drawn) -> Drawn:
    """``drawn`` made as small as it goes without anything moving."""

    def still(case: Case) -> bool:
        try:
            return tally.law.examine(drawn.decoder, case).difference == 0
        except (DecoderError, Unsupported):
            return False

    return replace(drawn, case=shrink(drawn.case, still, least_calls=tally.law.least_calls))


def _without_numbers(verdict: Verdict) -> Verdict:
    """Nothing was compared where the decoder raised."""
    return replace(verdict, largest_difference=None, tolerance=None)
