"""What a search has met so far."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Literal

from cachecheck.errors import DecoderError, DecoderHangsError, Unsupported
from cachecheck.judge.margin import FULL_ERRORS, full_error
from cachecheck.judge.vacuity import idle_rows
from cachecheck.laws import Law
from cachecheck.laws.base import closeness, in_doubt
from cachecheck.schedule.coverage import Class, classes_of, to_wire
from cachecheck.search.cases import Drawn
from cachecheck.verdict import Answer, Finding, Verdict

_HOPELESS = 12
"""Cases without any movement after which it is asked whether there can be some."""


class LawBrokenError(Exception):
    """Ends an example that breaks the law; `search` catches it."""


class Tally:
    """What a search has met so far."""

    def __init__(self, law: Law, on_case: Callable[[Tally], None]) -> None:
        self.law = law
        self.on_case = on_case
        self.started = time.perf_counter()
        self.examples = 0
        self.with_history = 0
        self.window: int | None = None  # the smallest one that was met
        self.crossed = False  # whether any case was longer than its decoder's window
        self.refusals: list[str] = []
        self.tried: Drawn | None = None
        self.closest: Finding | None = None
        self.nearest: Drawn | None = None  # the case of ``closest``
        self.longest = 0  # tokens of the longest case that holds
        self.kind: str | None = None
        self.smallest: tuple[Drawn, Finding] | None = None
        self.broken: LawBrokenError | None = None
        self.raised: list[tuple[Drawn, DecoderError]] = []
        self.doubtful: list[tuple[Drawn, Finding]] = []
        self.known = True  # while cases that failed before are tried
        self.cut_short: list[str] = []  # why programs ended before their last step
        self.covered: Counter[Class] = Counter()

    def attempt(self, drawn: Drawn) -> None:
        """Try the law on one case, raising if it is broken as it was broken first.

        Neither a decoder that raises nor a doubtful difference ends the search: the same mistake
        may also give rows that are clearly wrong, which say more.
        """
        shrinking = self.smallest is not None
        if not shrinking:
            self.examples += 1
            self.on_case(self)
        finding = self._examined(drawn, shrinking=shrinking)
        if finding is None:
            return
        violation = finding.violation
        judged = "equal" if violation is None else self._judged(drawn, finding)
        if violation is not None and judged == "wrong":
            if self.kind in (None, violation.kind):
                self.kind = violation.kind
                self.smallest = (drawn, finding)
                self.broken = LawBrokenError(violation.message)
                raise self.broken
        elif shrinking:
            return
        elif judged == "doubtful":
            self.doubtful.append((drawn, finding))
        else:
            self._note(drawn, replace(finding, violation=None))

    def _examined(self, drawn: Drawn, *, shrinking: bool) -> Finding | None:
        """What the law finds; None where the decoder refused or raised."""
        try:
            return self.law.examine(drawn.decoder, drawn.case)
        except Unsupported as refusal:
            if not shrinking:
                self.examples -= 1  # nothing was tried
                self.refusals.append(str(refusal))
        except DecoderError as error:
            self.raised.append((drawn, error))
            if isinstance(error, DecoderHangsError):
                raise
        return None

    def _note(self, drawn: Drawn, finding: Finding) -> None:
        """Remember a case that holds."""
        if finding.refusal:
            self.cut_short.append(finding.refusal)
        self.tried = drawn
        self.with_history += len(drawn.case.schedule.steps) > 1
        self.covered += classes_of(drawn.case.schedule, drawn.decoder.capabilities.window)
        window = drawn.decoder.capabilities.window
        if window is not None:
            self.window = min(window, self.window or window)
            self.crossed |= drawn.case.schedule.longest > window
        if self.closest is None or closeness(finding) > closeness(self.closest):
            self.closest, self.nearest = finding, drawn
        self.longest = max(self.longest, drawn.case.schedule.longest)

    def breaks(self, drawn: Drawn) -> bool:
        """Whether this case breaks the law as it was broken first."""
        try:
            self.attempt(drawn)
        except LawBrokenError:
            return True
        return False

    def _judged(self, drawn: Drawn, finding: Finding) -> Literal["wrong", "doubtful", "equal"]:
        """What a difference beyond the tolerance is; float64 is asked, if there is one."""
        exact = drawn.decoder.float64
        doubtful = in_doubt(drawn.decoder, finding)
        if exact is None:
            return "doubtful" if doubtful else "wrong"
        error = full_error(drawn.decoder, exact, drawn.case.tokens)
        explained = closeness(finding) <= FULL_ERRORS * error
        if not doubtful and not explained:
            return "wrong"
        again = self.law.examine(exact, drawn.case)
        if again.violation is not None and not in_doubt(exact, again):
            return "wrong"
        return "equal" if explained else "doubtful"

    @cached_property
    def _idle(self) -> bool:
        """Whether the decoder tried last cannot move a row at all; asked once."""
        assert self.tried is not None  # noqa: S101 - asked after some cases
        try:
            return bool(idle_rows(self.tried.decoder))
        except (DecoderError, Unsupported):
            return False

    @property
    def hopeless(self) -> bool:
        """Whether a law that one case can establish is not going to be: no need to go on."""
        if self.law.everywhere or self.examples < _HOPELESS or self.closest is None:
            return False
        return self.closest.difference == 0 and self._idle

    @property
    def tried_cases(self) -> int:
        """Cases drawn so far, refused ones included."""
        return self.examples + len(self.refusals)

    def time_is_up(self, seconds: float | None) -> bool:
        """Whether the search has gone on for so long."""
        return seconds is not None and time.perf_counter() - self.started >= seconds

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
            covered=to_wire(self.covered),
        )
