"""Violations, findings and verdicts, as plain data; ``report/`` renders them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from cachecheck.verdict.reason import Code, Margin, Reason
from cachecheck.verdict.sentences import sentence


class Answer(StrEnum):
    """The five answers that a law can give."""

    HOLDS = "HOLDS"
    VIOLATED = "VIOLATED"
    INCONCLUSIVE = "INCONCLUSIVE"
    UNSUPPORTED = "UNSUPPORTED"
    ERROR = "ERROR"


@dataclass(frozen=True)
class Violation:
    """The place where a decoder first departs from a law, and by how much.

    Its identity is (law, kind), never the numbers: shrinking keeps the identity it began with.

    Attributes:
        law: id of the law broken.
        kind: the comparison that failed, among those of the law.
        position: of the first wrong row in the whole sequence; None where no row is concerned.
        difference: largest absolute difference in that row; None where bytes were compared.
        tolerance: largest difference that would still have been equal.
        message: the violation in one sentence.
        call: the call that gave the row, counted from 1; None for a full pass.
        row: index of the row within that call.
        sequence: index of the sequence in its batch; None for one alone.
    """

    law: str
    kind: str
    position: int | None
    difference: float | None
    tolerance: float
    message: str
    call: int | None = None
    row: int | None = None
    sequence: int | None = None


@dataclass(frozen=True)
class Finding:
    """The result of a law on one case: the largest difference, and the violation if there is one.

    For `sensitivity` the difference should be large. ``refusal`` is the reason why the decoder
    refused to go on to the end of the case; empty if it did not.
    ``done`` is the number of steps before that refusal.
    """

    difference: float
    tolerance: float
    violation: Violation | None = None
    refusal: str = ""
    done: int | None = None


@dataclass(frozen=True)
class Verdict:
    """The result of a law over a whole search.

    Attributes:
        law: its id.
        answer: one of five.
        examples: cases tried; shrinking is left out, and so are cases that the decoder refused.
        seconds: time spent, shrinking included.
        largest_difference: over all cases tried; on a violation, in the smallest failing case.
        tolerance: the one that belongs to ``largest_difference``.
        schedule: smallest failing schedule in notation, or None.
        tokens: its tokens, or None.
        decoder_seed: seed of the decoder's weights in that case, or None.
        violation: on VIOLATED.
        reasons: the reasons for the answer, beside the violation, in the order to tell them.
        covered: calls made of each class, ``past|chunk|window``; see ``schedule/coverage.py``.
        margin: the room for a mistake between rounding and tolerance, where it was measured.
        shrunk: True if the case was made as small as it gets.
        repeatable: True if the case fails by itself when it is tried again.
        known_before: True if the case is one that failed in an earlier run.
    """

    law: str
    answer: Answer
    examples: int = 0
    seconds: float = 0.0
    largest_difference: float | None = None
    tolerance: float | None = None
    schedule: str | None = None
    tokens: tuple[int, ...] | None = None
    decoder_seed: int | None = None
    violation: Violation | None = None
    reasons: tuple[Reason, ...] = ()
    covered: tuple[tuple[str, int], ...] = ()
    margin: Margin | None = None
    shrunk: bool = False
    repeatable: bool = True
    known_before: bool = False

    @property
    def failed(self) -> bool:
        """True if there is a case that breaks the law, or makes the decoder raise."""
        broken = self.answer in (Answer.VIOLATED, Answer.ERROR)
        return broken and self.schedule is not None

    @property
    def not_offered(self) -> bool:
        """True if the decoder lacks the members that the law is about."""
        return self.answer is Answer.UNSUPPORTED and self.has(Code.NOT_OFFERED)

    def has(self, code: Code) -> bool:
        """True if this is among its reasons."""
        return any(reason.code is code for reason in self.reasons)

    @property
    def message(self) -> str:
        """The violation and the reasons in one line; empty where there is nothing to add."""
        said = [] if self.violation is None else [self.violation.message]
        return "; ".join([*said, *map(sentence, self.reasons)])

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` writes for this law."""
        violation = self.violation
        return {
            "law": self.law,
            "verdict": self.answer.value,
            "examples": self.examples,
            "seconds": round(self.seconds, 3),
            "largest_difference": self.largest_difference,
            "tolerance": self.tolerance,
            "schedule": self.schedule,
            "tokens": None if self.tokens is None else list(self.tokens),
            "decoder_seed": self.decoder_seed,
            "covered": dict(self.covered),
            "margin": None if self.margin is None else asdict(self.margin),
            "first_wrong_position": violation.position if violation else None,
            "violation": None if violation is None else asdict(violation),
            "reasons": [_set_values(reason) for reason in self.reasons],
            "shrunk": self.shrunk,
            "repeatable": self.repeatable,
            "known_before": self.known_before,
            "message": self.message,
        }


def _set_values(reason: Reason) -> dict[str, Any]:
    """A reason without the values that its code has no use for."""
    unset: tuple[Any, ...] = (None, "", False)
    return {
        name: value
        for name, value in asdict(reason).items()
        if not any(value is one or (one == "" and value == "") for one in unset)
    }


def exit_code(verdicts: list[Verdict]) -> int:
    """0 all that could be checked holds, 1 violated, 2 could not run, 3 inconclusive.

    A violation outweighs an error: it is a finding, whatever else went wrong. Nothing checked at
    all is 2.
    """
    answers = {verdict.answer for verdict in verdicts}
    if Answer.VIOLATED in answers:
        return 1
    if Answer.ERROR in answers or not answers - {Answer.UNSUPPORTED}:
        return 2
    return 3 if Answer.INCONCLUSIVE in answers else 0
