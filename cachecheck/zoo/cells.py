"""One cell of the matrix: an architecture, run in one variant, under one law."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from cachecheck.verdict import Answer, Margin, Verdict

NOT_BUILT = "NOT BUILT"
ANSWERS = (*(answer.value for answer in Answer), NOT_BUILT)


@dataclass(frozen=True)
class Cell:
    """What one law found.

    Attributes:
        architecture: the library's model type.
        variant: how it was run, a key of `cachecheck.engines.hugging_face.variants.VARIANTS`.
        law: its id.
        answer: one of `ANSWERS`.
        reason: the library's own refusal, the error, or what a reader should know.
        schedule: smallest failing schedule, or None.
        tokens: its tokens, or None.
        decoder_seed: of the weights in that case, or None.
        difference: the largest, in that case or over all.
        tolerance: what belongs to it.
        margin: rounding and the mildest mistake, where they were measured.
        examples: cases tried.
        seconds: time spent.
        known: id of the entry of the ledger that says what this is; empty for none.
    """

    architecture: str
    variant: str
    law: str
    answer: str
    reason: str = ""
    schedule: str | None = None
    tokens: tuple[int, ...] | None = None
    decoder_seed: int | None = None
    difference: float | None = None
    tolerance: float | None = None
    margin: Margin | None = None
    examples: int = 0
    seconds: float = 0.0
    known: str = ""

    @classmethod
    def of(cls, architecture: str, variant: str, verdict: Verdict) -> Self:
        """The cell for a verdict."""
        reason = verdict.message
        if not reason and verdict.violation is not None:
            reason = verdict.violation.message
        return cls(
            architecture,
            variant,
            verdict.law,
            verdict.answer.value,
            reason,
            schedule=verdict.schedule if verdict.failed else None,
            tokens=verdict.tokens if verdict.failed else None,
            decoder_seed=verdict.decoder_seed if verdict.failed else None,
            difference=verdict.largest_difference,
            tolerance=verdict.tolerance,
            margin=verdict.margin,
            examples=verdict.examples,
            seconds=round(verdict.seconds, 2),
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `to_json`."""
        found = dict(data)
        if found.get("tokens") is not None:
            found["tokens"] = tuple(found["tokens"])
        if found.get("margin") is not None:
            found["margin"] = Margin(**found["margin"])
        return cls(**found)

    def to_json(self) -> dict[str, Any]:
        """As plain data, what is not there left out."""
        kept = ("architecture", "variant", "law", "answer", "examples", "seconds")
        return {
            name: value
            for name, value in asdict(self).items()
            if name in kept or value not in (None, "", ())
        }

    def marked(self, known: str) -> Self:
        """The same, with the ledger's entry that says what it is."""
        return replace(self, known=known)


# From the one that says most: what one cell of the printed matrix shows for several variants.
_WEIGHT = {
    Answer.VIOLATED.value: 5,
    Answer.ERROR.value: 4,
    Answer.INCONCLUSIVE.value: 3,
    Answer.HOLDS.value: 2,
    Answer.UNSUPPORTED.value: 1,
    NOT_BUILT: 0,
}


def worst(cells: Iterable[Cell]) -> Cell:
    """The cell that says most; one that the ledger does not know comes first among equals."""
    return max(cells, key=lambda cell: (_WEIGHT[cell.answer], not cell.known))
