"""One cell of the matrix: an architecture, run in one variant, under one law."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, Self, get_args

from cachecheck.verdict import Margin, Verdict

CellAnswer = Literal["HOLDS", "VIOLATED", "INCONCLUSIVE", "UNSUPPORTED", "ERROR", "NOT BUILT"]
"""A law's answer, or that there was no decoder to ask."""

ANSWERS: tuple[CellAnswer, ...] = get_args(CellAnswer)
NOT_BUILT: CellAnswer = "NOT BUILT"
FAILED: tuple[CellAnswer, ...] = ("VIOLATED", "ERROR")


@dataclass(frozen=True)
class Cell:
    """The result of one law.

    Attributes:
        architecture: the library's name of it.
        variant: id of the `Variant` that was run.
        law: its id.
        answer: the law's.
        reason: the library's own refusal, the error, or what a reader should know.
        kind: which of the law's comparisons failed; empty where none did.
        follows_from: a broken law that this one implies. This one was not searched then: it cannot
            hold, and the case shown is the broken law's. Empty where it was searched.
        schedule: smallest failing schedule, or None.
        tokens: its tokens, or None.
        decoder_seed: of the weights in that case, or None.
        difference: the largest, in that case or over all.
        tolerance: what belongs to it.
        margin: rounding and the mildest mistake, where they were measured.
        examples: cases tried.
        known: id of the entry of the ledger that explains this; empty for none.
    """

    architecture: str
    variant: str
    law: str
    answer: CellAnswer
    reason: str = ""
    kind: str = ""
    follows_from: str = ""
    schedule: str | None = None
    tokens: tuple[int, ...] | None = None
    decoder_seed: int | None = None
    difference: float | None = None
    tolerance: float | None = None
    margin: Margin | None = None
    examples: int = 0
    known: str = ""

    @classmethod
    def of(cls, architecture: str, variant: str, verdict: Verdict) -> Self:
        """The cell for a verdict."""
        violation = verdict.violation
        return cls(
            architecture,
            variant,
            verdict.law,
            verdict.answer.value,
            verdict.message or (violation.message if violation else ""),
            kind=violation.kind if violation else "",
            schedule=verdict.schedule if verdict.failed else None,
            tokens=verdict.tokens if verdict.failed else None,
            decoder_seed=verdict.decoder_seed if verdict.failed else None,
            difference=verdict.largest_difference,
            tolerance=verdict.tolerance,
            margin=verdict.margin,
            examples=verdict.examples,
        )

    def implied_for(self, law: str) -> Self:
        """The cell of a law that cannot hold, since it implies this cell's law, which is broken."""
        weaker = self.follows_from or self.law
        return replace(self, law=law, follows_from=weaker, reason="", kind="", examples=0)

    def marked(self, known: str) -> Self:
        """The same, with the ledger's entry that explains it."""
        return replace(self, known=known)


# By how grave they are: one cell of the printed matrix shows the gravest of several variants.
_WEIGHT: dict[CellAnswer, int] = {
    "VIOLATED": 5,
    "ERROR": 4,
    "INCONCLUSIVE": 3,
    "HOLDS": 2,
    "UNSUPPORTED": 1,
    "NOT BUILT": 0,
}


def worst(cells: Iterable[Cell]) -> Cell:
    """The gravest cell; one that the ledger does not know comes first among equals."""
    return max(cells, key=lambda cell: (_WEIGHT[cell.answer], not cell.known))
