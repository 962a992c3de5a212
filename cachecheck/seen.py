"""What a search has met so far, and what that amounts to."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from cachecheck import wording
from cachecheck.cases import Drawn
from cachecheck.errors import DecoderError, Unsupported
from cachecheck.guard import Guarded
from cachecheck.laws import Law
from cachecheck.laws.base import closeness
from cachecheck.schedule import Case
from cachecheck.shrink import shrink, size_of
from cachecheck.verdict import Answer, Finding, Verdict, Violation


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
        self.window: int | None = None  # the smallest one that was met
        self.crossed = False  # whether any case was longer than its decoder's window
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
            self._note_window(drawn)
            if self.closest is None or closeness(finding) > closeness(self.closest):
                self.closest = finding

    def _note_window(self, drawn: Drawn) -> None:
        window = drawn.decoder.capabilities.window
        if window is not None:
            self.window = min(window, self.window or window)
            self.crossed |= len(drawn.case.tokens) > window

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
            return self.unrepeatable(), self.broken
        return self.verdict(Answer.VIOLATED), self.broken

    def unrepeatable(self) -> Verdict:
        """A violation that came and went: real, for rows were wrong, but not the case's alone."""
        if self.smallest is None or self.smallest[1].violation is None:
            return self.verdict(Answer.ERROR, wording.UNREPEATABLE)
        drawn, finding = self.smallest
        broken = replace(
            self.smallest[1].violation, kind="unrepeatable", message=wording.UNREPEATABLE
        )
        self.smallest = (drawn, replace(finding, violation=broken))
        return self.verdict(Answer.VIOLATED)

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
        drawn, finding = self.smallest
        largest = max(closeness(found) for _, found in self.doubtful)
        count, tried = len(self.doubtful), self.examples
        message = wording.in_doubt(drawn.decoder, largest, finding.difference, count, tried)
        return self.verdict(Answer.INCONCLUSIVE, message)

    def interrupted(self) -> Verdict | None:
        """What is known when Ctrl-C comes: a violation, else an error, else nothing."""
        if self.smallest is not None:
            return self.verdict(Answer.VIOLATED, wording.UNFINISHED)
        if not self.raised:
            return None
        drawn, error = min(self.raised, key=lambda pair: size_of(pair[0].case))
        self.smallest = (drawn, Finding(0.0, 0.0))
        verdict = self.verdict(Answer.ERROR, f"{error}; {wording.UNFINISHED}")
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
        drawn = len(self.refusals) + self.examples
        if self.refusals and 10 * self.with_history < drawn:
            message = wording.mostly_refused(self.refusals, drawn)
            return self.verdict(Answer.INCONCLUSIVE, message), None
        return self.verdict(Answer.HOLDS, self.notes()), None

    def notes(self) -> str:
        """What a reader of HOLDS should know as well."""
        window = None if self.crossed else self.window
        uncrossed = "" if window is None else wording.not_crossed(window)
        return "; ".join(filter(None, [wording.left_out(self.refusals), uncrossed]))

    def _shown_somewhere(self, most: Finding) -> Verdict:
        """A law that one case can establish: ``most`` is the largest difference that was seen."""
        if most.difference > most.tolerance:
            return self.verdict(Answer.HOLDS, wording.left_out(self.refusals))
        if most.difference > 0:
            return self.verdict(Answer.INCONCLUSIVE, wording.too_faint(most))
        assert self.tried is not None  # noqa: S101 - a case was tried, or `closest` were None
        idle = self._idle(self.tried)
        spans = idle.case.schedule.spans
        broken = Violation(
            law=self.law.id,
            kind="ignored",
            position=spans[-1][0],
            difference=0.0,
            tolerance=most.tolerance,
            message=wording.IGNORED,
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
