"""What the cases that a search has met amount to: one verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cachecheck import wording
from cachecheck.cases import Drawn
from cachecheck.errors import DecoderError, Unsupported
from cachecheck.guard import Guarded
from cachecheck.holding import held
from cachecheck.laws.base import closeness
from cachecheck.laws.sensitivity import unmoved
from cachecheck.schedule import Case
from cachecheck.seen import Seen
from cachecheck.shrink import shrink, size_of
from cachecheck.verdict import AS_DRAWN, Answer, Finding, Verdict


def violated(
    seen: Seen, make: Callable[[int], Guarded], first_seed: int
) -> tuple[Verdict, BaseException | None]:
    """The violation, shrunk, and what was raised for its smallest case.

    The first decoder seed is tried before anything else: one decoder less to explain. At the
    end the smallest case must fail once more, and by as much: else it is no proper failure.
    """
    assert seen.smallest is not None  # noqa: S101 - kept before LawBrokenError is raised
    drawn = seen.smallest[0]
    if drawn.decoder_seed != first_seed and not seen.known:  # else it would be stored twice
        plain = Drawn(first_seed, make(first_seed), drawn.case)
        if plain.fits() and seen.breaks(plain):
            drawn = plain

    def fails(case: Case) -> bool:
        return seen.breaks(replace(drawn, case=case))

    shrink(drawn.case, fails, least_calls=seen.law.least_calls)
    drawn, finding = seen.smallest
    repeats = seen.breaks(drawn)
    apart = abs(seen.smallest[1].difference - finding.difference)
    if not repeats or apart > finding.tolerance:
        return unrepeatable(seen), seen.broken
    return seen.verdict(Answer.VIOLATED), seen.broken


def unrepeatable(seen: Seen) -> Verdict:
    """A violation that came and went: real, for rows were wrong, but not the case's alone."""
    if seen.smallest is None or seen.smallest[1].violation is None:
        return seen.verdict(Answer.ERROR, wording.UNREPEATABLE)
    drawn, finding = seen.smallest
    broken = replace(seen.smallest[1].violation, kind="unrepeatable", message=wording.UNREPEATABLE)
    seen.smallest = (drawn, replace(finding, violation=broken))
    return seen.verdict(Answer.VIOLATED)


def hung(seen: Seen, hang: BaseException) -> Verdict:
    """A call that did not return in time, on the case as it was drawn."""
    if seen.raised:
        seen.smallest = (seen.raised[-1][0], Finding(0.0, 0.0))
    return _without_numbers(seen.verdict(Answer.ERROR, f"{hang}; {AS_DRAWN}"))


def errored(seen: Seen) -> tuple[Verdict, BaseException]:
    """The smallest case on which the decoder raised, or gave what is not rows."""
    drawn, error = min(seen.raised, key=lambda pair: size_of(pair[0].case))
    latest = [error]

    def fails(case: Case) -> bool:
        try:
            seen.law.examine(drawn.decoder, case)
        except Unsupported:
            return False
        except DecoderError as another:
            latest.append(another)
            seen.raised.append((replace(drawn, case=case), another))
            return True
        return False

    case = shrink(drawn.case, fails, least_calls=seen.law.least_calls)
    seen.smallest = (replace(drawn, case=case), Finding(0.0, 0.0))
    verdict = seen.verdict(Answer.ERROR, str(latest[-1]))
    return _without_numbers(verdict), latest[-1].__cause__ or latest[-1]


def in_doubt(seen: Seen) -> Verdict:
    """Differences that may be rounding or may be not, and what would settle it."""
    seen.smallest = min(seen.doubtful, key=lambda pair: size_of(pair[0].case))
    drawn, finding = seen.smallest
    largest = max(closeness(found) for _, found in seen.doubtful)
    count, tried = len(seen.doubtful), seen.examples
    message = wording.in_doubt(drawn.decoder, largest, finding.difference, count, tried)
    return seen.verdict(Answer.INCONCLUSIVE, message)


def interrupted(seen: Seen) -> Verdict | None:
    """What is known when Ctrl-C comes: a violation, else an error, else nothing."""
    if seen.smallest is not None:
        return seen.verdict(Answer.VIOLATED, wording.UNFINISHED)
    if not seen.raised:
        return None
    drawn, error = min(seen.raised, key=lambda pair: size_of(pair[0].case))
    seen.smallest = (drawn, Finding(0.0, 0.0))
    return _without_numbers(seen.verdict(Answer.ERROR, f"{error}; {wording.UNFINISHED}"))


def conclusion(seen: Seen) -> tuple[Verdict, BaseException | None]:
    """No case broke the law: does that mean that it holds?"""
    if seen.raised:
        return errored(seen)
    if seen.doubtful:
        return in_doubt(seen), None
    if seen.closest is None:
        return seen.verdict(Answer.UNSUPPORTED, (seen.refusals or ["no case to try"])[0]), None
    if not seen.law.everywhere:
        return _shown_somewhere(seen, seen.closest), None
    drawn = len(seen.refusals) + seen.examples
    if seen.refusals and 10 * seen.with_history < drawn:
        message = wording.mostly_refused(seen.refusals, drawn)
        # The law's own operation, as good as always: a rollback to where one is may be allowed.
        own = seen.refusals[0].startswith(f"{seen.law.id} refused")
        return seen.verdict(Answer.UNSUPPORTED if own else Answer.INCONCLUSIVE, message), None
    return held(seen, seen.closest), None


def _shown_somewhere(seen: Seen, most: Finding) -> Verdict:
    """A law that one case can establish: ``most`` is the largest difference that was seen."""
    if most.difference > most.tolerance:
        return seen.verdict(Answer.HOLDS, wording.left_out(seen.refusals))
    if most.difference > 0:
        return seen.verdict(Answer.INCONCLUSIVE, wording.too_faint(most))
    assert seen.tried is not None  # noqa: S101 - a case was tried, or `closest` were None
    idle = _idle(seen, seen.tried)
    broken = unmoved(idle.case, Finding(0.0, most.tolerance))
    seen.smallest = (idle, broken)
    return seen.verdict(Answer.VIOLATED)


def _idle(seen: Seen, drawn: Drawn) -> Drawn:
    """``drawn`` made as small as it goes without anything moving."""

    def still(case: Case) -> bool:
        try:
            return seen.law.examine(drawn.decoder, case).difference == 0
        except (DecoderError, Unsupported):
            return False

    return replace(drawn, case=shrink(drawn.case, still, least_calls=seen.law.least_calls))


def _without_numbers(verdict: Verdict) -> Verdict:
    """Nothing was compared where the decoder raised."""
    return replace(verdict, largest_difference=None, tolerance=None)
