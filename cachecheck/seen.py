"""What a search has met so far, and what that amounts to."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from cachecheck.cases import Drawn
from cachecheck.errors import DecoderError, Unsupported
from cachecheck.guard import Guarded
from cachecheck.laws import Law
from cachecheck.laws.base import closeness
from cachecheck.schedule import Case
from cachecheck.shrink import shrink, size_of
from cachecheck.verdict import Answer, Finding, Verdict, Violation

_UNFINISHED = "interrupted while shrinking: a smaller schedule may exist"

NOT_DETERMINISTIC = (
    "the decoder is not deterministic: a case that failed went otherwise when tried again; "
    "expected the same rows every time: switch off dropout (eval mode) and other randomness, and "
    "keep nothing from call to call outside the cache"
)


class LawBrokenError(Exception):
    """Ends an example that breaks the law; `search` catches it."""


class Seen:
    """What a search has met so far, and what that amounts to."""

    def __init__(self, law: Law, on_example: Callable[[int], None]) -> None:
        self.law = law
        self.on_example = on_example
        self.started = time.perf_counter()
        self.examples = 0
        self.with_history = 0
        self.refusals: list[str] = []
        self.tried: Drawn | None = None
        self.closest: Finding | None = None
        self.kind: str | None = None
        self.smallest: tuple[Drawn, Finding] | None = None
        self.broken: LawBrokenError | None = None
        self.raised: list[tuple[Drawn, DecoderError]] = []
        self.doubtful: list[tuple[Drawn, Finding]] = []

    def attempt(self, drawn: Drawn) -> None:
        """Try the law on one case, raising if it is broken as it was broken first.

        Neither a decoder that raises nor a doubtful difference ends the search: the same mistake
        may also give rows that are clearly wrong, which say more.
        """
        shrinking = self.smallest is not None
        if not shrinking:
            self.examples += 1
            self.on_example(self.examples + len(self.refusals))
        try:
            finding = self.law.check(drawn.decoder, drawn.case)
        except Unsupported as refusal:
            if not shrinking:
                self.examples -= 1  # nothing was tried
                self.refusals.append(str(refusal))
            return
        except DecoderError as error:
            self.raised.append((drawn, error))
            return
        violation = finding.violation
        if violation is not None and _doubtful(drawn, finding):
            self.doubtful.append((drawn, finding))
            return
        if violation is not None and self.kind in (None, violation.kind):
            self.kind = violation.kind
            self.smallest = (drawn, finding)
            self.broken = LawBrokenError(violation.message)
            raise self.broken
        if not shrinking:
            self.tried = drawn
            self.with_history += len(drawn.case.schedule.chunks) > 1
            if self.closest is None or closeness(finding) > closeness(self.closest):
                self.closest = finding

    def violated(
        self, make: Callable[[int], Guarded], first_seed: int
    ) -> tuple[Verdict, BaseException | None]:
        """The violation, shrunk, and what was raised for its smallest case.

        The first decoder seed is tried before anything else: one decoder less to explain. At the
        end the smallest case must fail once more, and by as much: else it is no proper failure.
        """
        assert self.smallest is not None  # noqa: S101 - kept before LawBrokenError is raised
        drawn = self.smallest[0]
        if drawn.decoder_seed != first_seed:
            plain = Drawn(first_seed, make(first_seed), drawn.case)
            if plain.fits() and self._breaks(plain):
                drawn = plain

        def fails(case: Case) -> bool:
            return self._breaks(replace(drawn, case=case))

        shrink(drawn.case, fails, least_calls=self.law.least_calls)
        drawn, finding = self.smallest
        repeats = self._breaks(drawn)
        apart = abs(self.smallest[1].difference - finding.difference)
        if not repeats or apart > finding.tolerance:
            return self.verdict(Answer.ERROR, NOT_DETERMINISTIC), self.broken
        return self.verdict(Answer.VIOLATED), self.broken

    def _breaks(self, drawn: Drawn) -> bool:
        try:
            self.attempt(drawn)
        except LawBrokenError:
            return True
        return False

    def errored(self) -> tuple[Verdict, BaseException]:
        """The smallest case on which the decoder raised, or gave what is not rows."""
        drawn, error = min(self.raised, key=lambda pair: size_of(pair[0].case))
        latest = [error]

        def fails(case: Case) -> bool:
            try:
                self.law.check(drawn.decoder, case)
            except Unsupported:
                return False
            except DecoderError as another:
                latest.append(another)
                self.raised.append((replace(drawn, case=case), another))
                return True
            return False

        case = shrink(drawn.case, fails, least_calls=self.law.least_calls)
        self.smallest = (replace(drawn, case=case), Finding(0.0, 0.0))
        verdict = self.verdict(Answer.ERROR, str(latest[-1]))
        blank = replace(verdict, largest_difference=None, tolerance=None)
        return blank, latest[-1].__cause__ or latest[-1]

    def in_doubt(self) -> Verdict:
        """Differences that may be rounding or may be not, and what would settle it."""
        self.smallest = min(self.doubtful, key=lambda pair: size_of(pair[0].case))
        drawn, _ = self.smallest
        largest = max(closeness(found) for _, found in self.doubtful)
        return self.verdict(
            Answer.INCONCLUSIVE,
            f"up to {largest:.0f} times what rounding explains, in {len(self.doubtful)} of "
            f"{self.examples} cases: a mistake, or an ill-conditioned decoder; {_advice(drawn)}",
        )

    def interrupted(self) -> Verdict | None:
        """What is known when Ctrl-C comes: a violation, else an error, else nothing."""
        if self.smallest is not None:
            return self.verdict(Answer.VIOLATED, _UNFINISHED)
        if not self.raised:
            return None
        drawn, error = min(self.raised, key=lambda pair: size_of(pair[0].case))
        self.smallest = (drawn, Finding(0.0, 0.0))
        verdict = self.verdict(Answer.ERROR, f"{error}; {_UNFINISHED}")
        return replace(verdict, largest_difference=None, tolerance=None)

    def conclusion(self) -> tuple[Verdict, BaseException | None]:
        """No case broke the law: does that mean that it holds?"""
        if self.raised:
            return self.errored()
        if self.doubtful:
            return self.in_doubt(), None
        if self.closest is None:
            return self.verdict(Answer.UNSUPPORTED, (self.refusals or ["no case to try"])[0]), None
        if not self.law.everywhere:
            return self._shown_somewhere(self.closest), None
        refused, drawn = len(self.refusals), len(self.refusals) + self.examples
        if refused and 10 * self.with_history < drawn:
            message = (
                f"the decoder refused {refused} of {drawn} cases, nearly all that have a history: "
                f"{self.refusals[0]}"
            )
            return self.verdict(Answer.INCONCLUSIVE, message), None
        note = (
            f"{refused} cases left out, the decoder refused: {self.refusals[0]}" if refused else ""
        )
        return self.verdict(Answer.HOLDS, note), None

    def _shown_somewhere(self, most: Finding) -> Verdict:
        """A law that one case can establish: ``most`` is the largest difference that was seen."""
        if most.difference > most.tolerance:
            return self.verdict(Answer.HOLDS)
        if most.difference > 0:
            return self.verdict(
                Answer.INCONCLUSIVE,
                f"changing a cached token moves later rows by {most.difference:.1e} at most, "
                f"within the tolerance of {most.tolerance:.1e}: mistakes in the cache would look "
                "like rounding; use larger weights, shorter sequences or float64",
            )
        assert self.tried is not None  # noqa: S101 - a case was tried, or `closest` were None
        idle = self._idle(self.tried)
        spans = idle.case.schedule.spans
        broken = Violation(
            law=self.law.id,
            kind="ignored",
            position=spans[-1][0],
            difference=0.0,
            tolerance=most.tolerance,
            message="changing a cached token moves no later row: the cache is not used",
            call=len(spans),
            row=0,
        )
        self.smallest = (idle, Finding(0.0, most.tolerance, broken))
        return self.verdict(Answer.VIOLATED)

    def _idle(self, drawn: Drawn) -> Drawn:
        """``drawn`` made as small as it goes without anything moving."""

        def still(case: Case) -> bool:
            try:
                return self.law.check(drawn.decoder, case).difference == 0
            except (DecoderError, Unsupported):
                return False

        return replace(drawn, case=shrink(drawn.case, still, least_calls=self.law.least_calls))

    def verdict(self, answer: Answer, message: str = "") -> Verdict:
        """``answer`` with all that is known."""
        drawn, finding = self.smallest or (None, self.closest)
        violation = finding.violation if finding else None
        return Verdict(
            law=self.law.id,
            answer=answer,
            examples=self.examples,
            seconds=time.perf_counter() - self.started,
            largest_difference=finding.difference if finding else None,
            tolerance=finding.tolerance if finding else None,
            schedule=str(drawn.case.schedule) if drawn else None,
            tokens=drawn.case.tokens if drawn else None,
            decoder_seed=drawn.decoder_seed if drawn else None,
            violation=violation,
            message="; ".join(filter(None, [violation.message if violation else "", message])),
        )


def _doubtful(drawn: Drawn, finding: Finding) -> bool:
    """Whether a difference beyond the tolerance may still be rounding (see tolerance.py)."""
    compared = finding.violation is not None and finding.violation.difference is not None
    return compared and closeness(finding) <= drawn.decoder.doubt


def _advice(drawn: Drawn) -> str:
    """What would settle a doubtful difference."""
    decoder = drawn.decoder
    if decoder.precision != "float64":
        return "run it in float64, or with fewer layers and shorter sequences"
    if decoder.capabilities.dtype is None:
        return (
            "declare the dtype of its arithmetic: float32 if it is that anywhere, or float64, "
            "which makes this a violation"
        )
    return "run it with fewer layers and shorter sequences"
