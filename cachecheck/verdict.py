"""What a law found, as plain data. Renderings live in ``report/``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Answer(StrEnum):
    """The five things a law can say."""

    HOLDS = "HOLDS"
    VIOLATED = "VIOLATED"
    INCONCLUSIVE = "INCONCLUSIVE"
    UNSUPPORTED = "UNSUPPORTED"
    ERROR = "ERROR"


AS_DRAWN = "the case is as it was drawn: each attempt to shrink it would hang as well"

NOT_OFFERED = "not offered: "
"""How the message of an UNSUPPORTED begins where the decoder lacks the members."""


@dataclass(frozen=True)
class Violation:
    """Where a decoder first departs from a law.

    Its identity is (law, kind), never the numbers: shrinking keeps the identity it began with.

    Attributes:
        law: id of the law broken.
        kind: which of the law's comparisons failed.
        position: of the first wrong row in the whole sequence; None where no row is concerned.
        difference: largest absolute difference in that row; None where bytes were compared.
        tolerance: what would still have been equal.
        message: one sentence.
        call: the call that gave the row, counted from 1; None for a full pass.
        row: index of the row within that call.
        sequence: of a batch, which of its sequences; None for one alone.
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
    """What a law found on one case: how close it came, and the violation if there is one.

    For `sensitivity` the difference is what should be large. ``refusal`` is why the decoder did not
    go on to the end of the case, where it did not.
    """

    difference: float
    tolerance: float
    violation: Violation | None = None
    refusal: str = ""


@dataclass(frozen=True)
class Margin:
    """The room between rounding and the mildest mistake, relative to an entry's size.

    Attributes:
        noise: of rounding.
        tolerance: what is called equal: the usual one, or less where the signal asks for it.
        signal: of the mildest relevant mistake; None where nothing earlier moves a row.
        probe: what it was measured on: ``influence`` of a token, or ``order`` of two.
        length: of the sequence that it was measured on.
    """

    noise: float
    tolerance: float
    signal: float | None
    probe: str
    length: int


@dataclass(frozen=True)
class Verdict:
    """What a law found over a whole search.

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
        message: one line for a reader; empty where there is nothing to add.
        covered: calls made of each class, ``past|chunk|window``; see ``coverage.py``.
        margin: the room for a mistake between rounding and tolerance, where it was measured.
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
    message: str = ""
    covered: tuple[tuple[str, int], ...] = ()
    margin: Margin | None = None

    @property
    def failed(self) -> bool:
        """Whether there is a case that breaks the law, or makes the decoder raise."""
        broken = self.answer in (Answer.VIOLATED, Answer.ERROR)
        return broken and self.schedule is not None

    @property
    def shrunk(self) -> bool:
        """Whether its case was made as small as it gets."""
        return self.failed and AS_DRAWN not in self.message

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` writes for this law."""
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
            "first_wrong_position": self.violation.position if self.violation else None,
            "message": self.message,
        }

    def to_wire(self) -> dict[str, Any]:
        """Everything, in types that survive the trip from a worker process."""
        return {**asdict(self), "answer": self.answer.value}

    @classmethod
    def from_wire(cls, data: dict[str, Any]) -> Verdict:
        """The inverse of `to_wire`."""
        violation, margin = data["violation"], data["margin"]
        tokens = data["tokens"]
        return cls(
            **{
                **data,
                "answer": Answer(data["answer"]),
                "tokens": None if tokens is None else tuple(tokens),
                "violation": None if violation is None else Violation(**violation),
                "covered": tuple((name, count) for name, count in data["covered"]),
                "margin": None if margin is None else Margin(**margin),
            }
        )


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
