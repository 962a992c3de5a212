"""Random search: cases drawn by Hypothesis, tried on one law, failures shrunk.

Shrinking keeps the identity of the failure it began with, (law, kind): a smaller case that fails
in another way does not count. Nothing is read from or written to a Hypothesis database, so that a
seed gives the same cases everywhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import Flaky

from cachecheck.cases import Drawn, Effort, cases
from cachecheck.errors import CachecheckError, DecoderError, Unsupported
from cachecheck.guard import Guarded
from cachecheck.laws import Law
from cachecheck.laws.base import closeness
from cachecheck.schedule import Case
from cachecheck.shrink import shrink, size_of
from cachecheck.target import Target
from cachecheck.verdict import Answer, Finding, Verdict, Violation


class LawBrokenError(Exception):
    """Ends an example that breaks the law; `search` catches it."""


class InterruptedSearchError(KeyboardInterrupt):
    """Ctrl-C while a failing case was being shrunk: ``verdict`` is what was known by then."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__()
        self.verdict = verdict


def search(
    law: Law,
    target: Target,
    effort: Effort,
    *,
    on_example: Callable[[int], None] = lambda _count: None,
) -> tuple[Verdict, BaseException | None]:
    """Try ``law`` on drawn cases.

    Args:
        law: one of `cachecheck.laws.LAWS`.
        target: from `cachecheck.target.load_target`.
        effort: seed, number of cases, longest sequence.
        on_example: called with the number of cases tried so far.

    Returns:
        The verdict, and the exception behind a VIOLATED or ERROR (for a debugger), else None.

    Raises:
        InterruptedSearchError: Ctrl-C, when a failing case was known already.
    """
    seen = _Seen(law, on_example)
    make = lru_cache(maxsize=8)(_probed(target))
    decoder_seeds = range(effort.seed, effort.seed + target.seeds)

    @hypothesis.seed(effort.seed)
    @settings(
        max_examples=effort.examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )
    @hypothesis.given(cases(make, decoder_seeds, law, effort.max_length))
    def attempt(drawn: Drawn) -> None:
        seen.attempt(drawn)

    try:
        attempt()
        return seen.conclusion()
    except LawBrokenError as broken:
        return seen.violated(), broken
    except Unsupported as refusal:
        return seen.verdict(Answer.UNSUPPORTED, str(refusal)), None
    except CachecheckError as error:
        return seen.verdict(Answer.ERROR, str(error)), error.__cause__ or error
    except Flaky as flaky:
        return seen.verdict(Answer.ERROR, _FLAKY), flaky
    except KeyboardInterrupt as stop:
        if seen.smallest is None:
            raise
        message = "interrupted while shrinking: a smaller schedule may exist"
        raise InterruptedSearchError(seen.verdict(Answer.VIOLATED, message)) from stop


_FLAKY = (
    "the decoder is not deterministic: a case that failed passed when it was tried again; expected "
    "the same rows every time: switch off dropout (eval mode) and other randomness, and keep "
    "nothing from call to call outside the cache"
)


def _probed(target: Target) -> Callable[[int], Guarded]:
    def make(seed: int) -> Guarded:
        decoder = target.make(seed)
        decoder.probe()
        return decoder

    return make


class _Seen:
    """What a search has met so far, and what that amounts to."""

    def __init__(self, law: Law, on_example: Callable[[int], None]) -> None:
        self.law = law
        self.on_example = on_example
        self.started = time.perf_counter()
        self.examples = 0
        self.refusals: list[str] = []
        self.first: Drawn | None = None  # Hypothesis begins with the smallest case there is
        self.closest: Finding | None = None
        self.kind: str | None = None
        self.smallest: tuple[Drawn, Finding] | None = None
        self.raised: list[tuple[Drawn, DecoderError]] = []

    def attempt(self, drawn: Drawn) -> None:
        """Try the law on one case, raising if it is broken as it was broken first.

        A decoder that raises does not end the search: the same mistake may also give wrong rows,
        which say more.
        """
        shrinking = self.smallest is not None
        if not shrinking:
            self.examples += 1
            self.on_example(self.examples)
        try:
            finding = self.law.check(drawn.decoder, drawn.case)
        except Unsupported as refusal:
            self.refusals.append(str(refusal))
            return
        except DecoderError as error:
            self.raised.append((drawn, error))
            return
        violation = finding.violation
        if violation is not None and self.kind in (None, violation.kind):
            self.kind = violation.kind
            self.smallest = (drawn, finding)
            raise LawBrokenError(violation.message)
        if not shrinking:
            self.first = self.first or drawn
            if self.closest is None or closeness(finding) > closeness(self.closest):
                self.closest = finding

    def violated(self) -> Verdict:
        """The violation, after our own shrinking has finished what Hypothesis began."""
        assert self.smallest is not None  # noqa: S101 - kept before LawBrokenError is raised
        drawn = self.smallest[0]

        def fails(case: Case) -> bool:
            try:
                self.attempt(replace(drawn, case=case))
            except LawBrokenError:
                return True
            return False

        shrink(drawn.case, fails, least_calls=self.law.least_calls)
        return self.verdict(Answer.VIOLATED)

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
                return True
            return False

        case = shrink(drawn.case, fails, least_calls=self.law.least_calls)
        self.smallest = (replace(drawn, case=case), Finding(0.0, 0.0))
        verdict = self.verdict(Answer.ERROR, str(latest[-1]))
        blank = replace(verdict, largest_difference=None, tolerance=None)
        return blank, latest[-1].__cause__ or latest[-1]

    def conclusion(self) -> tuple[Verdict, BaseException | None]:
        """No case broke the law: does that mean that it holds?"""
        if self.raised:
            return self.errored()
        if self.closest is None:
            return self.verdict(Answer.UNSUPPORTED, (self.refusals or ["no case to try"])[0]), None
        if not self.law.everywhere:
            return self._shown_somewhere(self.closest), None
        refused = len(self.refusals)
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
        assert self.first is not None  # noqa: S101 - a case was tried, or `closest` were None
        message = "changing a cached token moves no later row: the cache is not used"
        spans = self.first.case.schedule.spans
        broken = Violation(
            law=self.law.id,
            kind="ignored",
            position=spans[-1][0],
            difference=0.0,
            tolerance=most.tolerance,
            message=message,
            call=len(spans),
            row=0,
        )
        self.smallest = (self.first, Finding(0.0, most.tolerance, broken))
        return self.verdict(Answer.VIOLATED)

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
