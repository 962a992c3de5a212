"""The judgement of one case: equal, doubtful or wrong.

Differences have three zones (see tolerance.py): within the tolerance, in doubt, and beyond any
rounding. Where the decoder can be run in float64, that is asked as well: a mistake that a short
precision hides is wrong all the same, and a difference that the full pass itself shows against
float64 is rounding, as long as a mild mistake would still stand out from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from cachecheck.guard import Guarded
from cachecheck.judge.margin import FULL_ERRORS, full_error, has_room, margin_of
from cachecheck.laws import Law
from cachecheck.laws.comparison import share_of_tolerance
from cachecheck.schedule import Case
from cachecheck.verdict import Code, Finding, Reason


class Judgement(StrEnum):
    """The three judgements on a comparison."""

    EQUAL = "equal"
    DOUBTFUL = "doubtful"
    WRONG = "wrong"


@dataclass(frozen=True)
class Judged:
    """A finding, and the judgement on it.

    Attributes:
        judgement: one of three.
        finding: of the law; with a violation unless it is equal.
        notes: reasons that a reader should know beside the violation.
        full_error: distance of the full pass from float64, in tolerances, where that explains the
            whole difference; else None.
    """

    judgement: Judgement
    finding: Finding
    notes: tuple[Reason, ...] = ()
    full_error: float | None = None

    @property
    def wrong(self) -> bool:
        """True if the law is broken."""
        return self.judgement is Judgement.WRONG


def examine(law: Law, decoder: Guarded, case: Case) -> Judged:
    """Try ``law`` on one case, and judge its finding.

    Raises:
        Unsupported: the decoder lacks what the law needs, or refuses.
        DecoderError: the decoder raised, or gave what cannot be used.
    """
    finding = law.try_on(decoder, case)
    if not law.everywhere:
        return _moved(law, case, finding)
    return judged(
        decoder, finding, case.tokens, lambda twin: law.try_on(twin, case), exact=law.exact
    )


def judged(
    decoder: Guarded,
    finding: Finding,
    tokens: Sequence[int],
    again: Callable[[Guarded], Finding],
    *,
    exact: bool = False,
) -> Judged:
    """Judge a difference that should be none.

    Args:
        decoder: that showed it.
        finding: the difference, with a violation if it is beyond the tolerance.
        tokens: of the case, whose full pass is compared with float64.
        again: makes the same comparison on another decoder: on this one in float64.
        exact: True if both sides are the same calls of the same shapes (see `margin.measure`).

    Raises:
        Unsupported: the decoder refuses in float64.
        DecoderError: it raised there, or gave what cannot be used.
    """
    violation, twin = finding.violation, decoder.float64
    if violation is None:
        return _equal(decoder, finding, again)
    if violation.difference is None:
        return Judged(Judgement.WRONG, finding)  # bytes or counts: no rounding in it
    in_doubt = not _clearly_wrong(decoder, finding)
    if twin is None:
        return Judged(Judgement.DOUBTFUL if in_doubt else Judgement.WRONG, finding)
    error = full_error(decoder, twin, tokens)
    explained = share_of_tolerance(finding) <= FULL_ERRORS * error
    if not (in_doubt or explained) or _clearly_wrong(twin, again(twin)):
        return Judged(Judgement.WRONG, finding)
    if explained and has_room(margin_of(decoder, len(tokens), exact=exact)):
        # Rounding: the full pass is as far from float64, and a mistake would be seen beside it.
        return Judged(Judgement.EQUAL, replace(finding, violation=None), full_error=error)
    return Judged(Judgement.DOUBTFUL, finding, full_error=error if explained else None)


def _equal(decoder: Guarded, finding: Finding, again: Callable[[Guarded], Finding]) -> Judged:
    """Judge a difference within the tolerance; unless it is zero, in float64 too if offered."""
    twin = decoder.float64
    if finding.difference == 0 or twin is None:
        return Judged(Judgement.EQUAL, finding)
    closer = again(twin)
    if not _clearly_wrong(twin, closer):
        return Judged(Judgement.EQUAL, finding)
    hidden = Reason(Code.HIDDEN, precision=decoder.precision)
    return Judged(Judgement.WRONG, closer, (hidden,))


def _clearly_wrong(decoder: Guarded, finding: Finding) -> bool:
    """True if a finding is beyond doubt at the decoder's own precision."""
    violation = finding.violation
    if violation is None:
        return False
    return violation.difference is None or share_of_tolerance(finding) > decoder.doubt


def _moved(law: Law, case: Case, finding: Finding) -> Judged:
    """The judgement on a case where something has to move: by enough, by too little, or not."""
    if finding.difference > finding.tolerance:
        return Judged(Judgement.EQUAL, finding)
    assert law.unmoved is not None  # noqa: S101 - every law that need not hold everywhere has one
    broken = law.unmoved(case, finding)
    return Judged(Judgement.DOUBTFUL if finding.difference > 0 else Judgement.WRONG, broken)
