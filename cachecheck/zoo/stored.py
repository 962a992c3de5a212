"""The file of a zoo: JSON with a line for each variant of an architecture, each cell an array.

A matrix has thousands of cells, most of which say the same. So a cell is an array whose columns are
named once, a law is its index among ``laws``, and words stand once in ``details``::

    {
     "cachecheck": "zoo", "version": 1,
     "library": "transformers", "versions": {...}, "settings": "seed 0, ...", "whole": true,
     "wanted": 196, "seconds": 570.4,
     "laws": ["causality", "prefix", ...],
     "columns": ["law", "answer", "difference", "tolerance", "examples", "detail"],
     "details": [{}, {"reason": "not offered: work()"}, ...],
     "runs": [
      ["afmoe", "dynamic", [[0, "HOLDS", 1.19e-7, 5.07e-5, 4, 0], [6, "UNSUPPORTED", ...], ...]],
      ...
     ]
    }

The ledger's entries are not in it: whoever reads it marks cells by the ledger of the day.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated

import msgspec

from cachecheck.files import Stored
from cachecheck.verdict import Margin
from cachecheck.zoo.cells import Cell, CellAnswer

_Index = Annotated[int, msgspec.Meta(ge=0)]


class StoredCell(msgspec.Struct, array_like=True, frozen=True, forbid_unknown_fields=True):
    """One cell: an array of these, in this order.

    Attributes:
        law: its index among the file's ``laws``.
        answer: see `Cell`, as for the next three; differences have three digits.
        difference: None where nothing was compared.
        tolerance: likewise.
        examples: cases tried.
        detail: index among the file's ``details``; 0 for nothing to add.
    """

    law: _Index
    answer: CellAnswer
    difference: float | None
    tolerance: float | None
    examples: _Index
    detail: _Index


class Detail(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The parts of a `Cell` that only some have; a margin where it decided: at INCONCLUSIVE."""

    reason: str = ""
    kind: str = ""
    follows_from: str = ""
    schedule: str | None = None
    tokens: tuple[int, ...] | None = None
    decoder_seed: int | None = None
    margin: Margin | None = None


class Run(msgspec.Struct, array_like=True, frozen=True, forbid_unknown_fields=True):
    """One variant of an architecture, and its cells."""

    architecture: str
    variant: str
    cells: tuple[StoredCell, ...]


@dataclass(frozen=True)
class StoredZoo:
    """The content of the file.

    Attributes:
        library: whose architectures these are; this and the next five as in `Matrix`.
        versions: of what took part.
        settings: of the run.
        whole: see `Matrix`.
        wanted: see `Matrix`.
        seconds: of the whole run.
        laws: ids; cells have indices into them.
        details: what cells have to add, each once; the first is empty.
        runs: in the order of the matrix.
        columns: of a cell.
    """

    library: str
    versions: dict[str, str]
    settings: str
    whole: bool
    wanted: int
    seconds: float
    laws: tuple[str, ...]
    columns: tuple[str, ...]
    details: tuple[Detail, ...]
    runs: tuple[Run, ...]

    def __post_init__(self) -> None:
        """Refuse columns of another order, and indices that lead nowhere."""
        if self.columns != StoredCell.__struct_fields__:
            raise ValueError(f"the columns should be {', '.join(StoredCell.__struct_fields__)}")
        for run in self.runs:
            for cell in run.cells:
                if cell.law >= len(self.laws) or cell.detail >= len(self.details):
                    raise ValueError(
                        f"a cell of {run.architecture} has an index that leads nowhere"
                    )


ZOO = Stored("zoo", 1, StoredZoo)


def table_of(
    cells: Iterable[Cell], laws: tuple[str, ...]
) -> tuple[tuple[Run, ...], tuple[Detail, ...]]:
    """Cells as the file has them: runs, and the details that those refer to."""
    details = {Detail(): 0}
    runs = []
    for (architecture, variant), group in groupby(
        cells, lambda one: (one.architecture, one.variant)
    ):
        row = [
            StoredCell(
                laws.index(cell.law),
                cell.answer,
                _three_digits(cell.difference),
                _three_digits(cell.tolerance),
                cell.examples,
                details.setdefault(_detail(cell), len(details)),
            )
            for cell in group
        ]
        runs.append(Run(architecture, variant, tuple(row)))
    return tuple(runs), tuple(details)


def cells_of(stored: StoredZoo) -> Iterator[Cell]:
    """The cells of a file, in its order; none of them marked as known."""
    for run in stored.runs:
        for one in run.cells:
            yield Cell(
                run.architecture,
                run.variant,
                stored.laws[one.law],
                one.answer,
                difference=one.difference,
                tolerance=one.tolerance,
                examples=one.examples,
                **msgspec.structs.asdict(stored.details[one.detail]),
            )


def _detail(cell: Cell) -> Detail:
    return Detail(
        reason=cell.reason,
        kind=cell.kind,
        follows_from=cell.follows_from,
        schedule=cell.schedule,
        tokens=cell.tokens,
        decoder_seed=cell.decoder_seed,
        margin=cell.margin if cell.answer == "INCONCLUSIVE" else None,
    )


def _three_digits(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.3g}")
