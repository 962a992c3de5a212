"""The kill matrix as a table: a row for each fault and precision, and where shrinking fell short.

``kill-matrix.csv`` has no timings, and its rows are sorted: the same code writes the same file.
``kill-matrix-unequal.csv`` has the shrunk schedules that are not the certified minimum.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.tables import read_csv, write_csv
from cachecheck.errors import InputError
from cachecheck.laws import LAWS

EVIDENCE = Path(__file__).parent.parent / "evidence"
MATRIX, UNEQUAL = "kill-matrix.csv", "kill-matrix-unequal.csv"
KILLED = "VIOLATED"
TEXTS = ("fault", "law", "host", "precision", "canary")
COUNTS = ("hit", "of", "seeds", "caught", "certified", "equal", "smaller", "larger")
COLUMNS = (
    *("fault", "law", "host", "precision", "hit", "of", "seeds", "caught"),
    *("cases_median", "cases_worst", "cases", "schedules"),
    *("certified", "equal", "smaller", "larger", *LAWS, "canary"),
)
UNEQUAL_COLUMNS = ("fault", "precision", "decoder_seed", "shrunk", "certified")


@dataclass(frozen=True)
class KillRow:
    """One fault in one precision.

    Attributes:
        fault: its id.
        law: the one that catches it.
        host: the right kind of cache that it is put into.
        precision: of the decoder.
        hit: cases in which it changes an answer, to the bit.
        of: cases compared for that.
        seeds: searches with the fault's own law.
        caught: of them, those that ended with a violation.
        cases: for each of those, cases drawn until then, in the order of the seeds.
        schedules: the different smallest ones, the shortest first.
        certified: shrunk schedules that could be compared with the certified minimum.
        equal: of them, those that are it.
        smaller: those that are smaller, with other tokens.
        larger: those that are larger.
        verdicts: of a short search with each law.
        canary: the verdict of a law that is always broken.
    """

    fault: str
    law: str
    host: str
    precision: str
    hit: int
    of: int
    seeds: int
    caught: int
    cases: tuple[int, ...]
    schedules: tuple[str, ...]
    certified: int
    equal: int
    smaller: int
    larger: int
    verdicts: Mapping[str, str]
    canary: str

    @property
    def median(self) -> str:
        """Of the cases drawn until it was caught; ``-`` if it never was."""
        return f"{statistics.median(self.cases):g}" if self.cases else "-"

    @property
    def worst(self) -> str:
        """Most cases drawn until it was caught; ``-`` if it never was."""
        return str(max(self.cases)) if self.cases else "-"


@dataclass(frozen=True)
class Unequal:
    """A shrunk schedule that is not the certified minimum.

    Attributes:
        fault: its id.
        precision: of the decoder.
        decoder_seed: of its weights.
        shrunk: what the search ended with.
        certified: the smallest that fails, of all schedules in the order of size.
    """

    fault: str
    precision: str
    decoder_seed: int
    shrunk: str
    certified: str


def rows_of(result: Mapping[str, Any]) -> list[KillRow]:
    """The rows of one fault, from what `benchmarks.kills.measure` gave."""
    return [_row(result, dtype, cell) for dtype, cell in result["dtypes"].items()]


def unequal_of(result: Mapping[str, Any]) -> list[Unequal]:
    """Where this fault's shrunk schedules are not the certified minimum."""
    return [
        Unequal(result["id"], dtype, run["decoder_seed"], run["schedule"], run["certified"])
        for dtype, cell in result["dtypes"].items()
        for run in cell["runs"]
        if run.get("agrees") not in (None, "equal")
    ]


def _row(result: Mapping[str, Any], dtype: str, cell: Mapping[str, Any]) -> KillRow:
    caught = [run for run in cell["runs"] if run["verdict"] == KILLED]
    agreements = [run["agrees"] for run in caught if run.get("agrees")]
    return KillRow(
        fault=result["id"],
        law=result["law"],
        host=result["host"],
        precision=dtype,
        hit=cell["hit"],
        of=cell["of"],
        seeds=len(cell["runs"]),
        caught=len(caught),
        cases=tuple(run["examples"] for run in caught),
        schedules=tuple(sorted({run["schedule"] for run in caught}, key=lambda s: (len(s), s))),
        certified=len(agreements),
        equal=agreements.count("equal"),
        smaller=agreements.count("smaller"),
        larger=agreements.count("larger"),
        verdicts={law: one["verdict"] for law, one in cell["laws"].items()},
        canary=cell["canary"],
    )


def write(folder: Path, rows: Iterable[KillRow], unequal: Iterable[Unequal]) -> None:
    """Write both tables into a folder, sorted by fault and precision.

    Raises:
        ValueError: a row lacks the verdict of a law.
    """
    ordered = sorted(rows, key=lambda row: (row.fault, row.precision))
    write_csv(folder / MATRIX, COLUMNS, map(_cells, ordered))
    apart = sorted(unequal, key=lambda one: (one.fault, one.precision, one.decoder_seed))
    write_csv(folder / UNEQUAL, UNEQUAL_COLUMNS, map(vars, apart))


def read(folder: Path = EVIDENCE) -> list[KillRow]:
    """The matrix in a folder.

    Raises:
        InputError: it has other columns, for other laws maybe.
    """
    rows = read_csv(folder / MATRIX)
    if rows and tuple(rows[0]) != COLUMNS:
        raise InputError(
            f"{folder / MATRIX} has the columns {', '.join(rows[0])}; expected "
            f"{', '.join(COLUMNS)}: run python -m benchmarks.kill_matrix without --only"
        )
    return [_parsed(cells) for cells in rows]


def read_unequal(folder: Path = EVIDENCE) -> list[Unequal]:
    """The schedules in a folder that are not the certified minimum."""
    rows: Sequence[dict[str, Any]] = read_csv(folder / UNEQUAL)
    return [Unequal(**{**cells, "decoder_seed": int(cells["decoder_seed"])}) for cells in rows]


def _cells(row: KillRow) -> dict[str, Any]:
    """A row as the file has it."""
    cells = {name: value for name, value in vars(row).items() if name != "verdicts"}
    return {
        **cells,
        **row.verdicts,
        "cases_median": row.median,
        "cases_worst": row.worst,
        "cases": " ".join(map(str, row.cases)),
        "schedules": "; ".join(row.schedules),
    }


def _parsed(cells: Mapping[str, str]) -> KillRow:
    """The inverse of `_cells`."""
    texts: dict[str, Any] = {name: cells[name] for name in TEXTS}
    counts: dict[str, Any] = {name: int(cells[name]) for name in COUNTS}
    return KillRow(
        **texts,
        **counts,
        cases=tuple(map(int, cells["cases"].split())),
        schedules=tuple(filter(None, cells["schedules"].split("; "))),
        verdicts={law: cells[law] for law in LAWS},
    )
