"""Verdicts on the controls, as the tables of ``evidence/controls.json``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.controls import CONTROLS
from benchmarks.tables import Row, read_report, write_report
from cachecheck.laws import LAWS

SEED = 20261130


@dataclass(frozen=True)
class Result:
    """One control in one precision, under every law that it offers anything for.

    Attributes:
        control: its id.
        dtype: its precision.
        asked: cases asked for.
        cases: of each law, cases that were tried; 0 where the decoder always refused.
        accusations: what must not be: a row for each law that was broken, or raised.
        inconclusive: a row for each law that was INCONCLUSIVE.
    """

    control: str
    dtype: str
    asked: int
    cases: dict[str, int]
    accusations: list[Row]
    inconclusive: list[Row]

    @property
    def examples(self) -> int:
        """Cases of all laws."""
        return sum(self.cases.values())


def write_results(path: Path, results: Sequence[Result]) -> None:
    """Write all results so far, in the order of the controls, with their totals."""
    order = {name: at for at, name in enumerate(CONTROLS)}
    ordered = sorted(results, key=lambda one: (order.get(one.control, -1), one.dtype))
    report = {
        "seed": SEED,
        "totals": totals(ordered),
        "results": [_row(one) for one in ordered],
        "accusations": [_named(one, row) for one in ordered for row in one.accusations],
        "inconclusive": [_named(one, row) for one in ordered for row in one.inconclusive],
    }
    write_report(path, report)


def read_results(path: Path) -> list[Result]:
    """The results that `write_results` wrote."""
    report = read_report(path)
    return [
        Result(
            control=row["control"],
            dtype=row["dtype"],
            asked=row["asked"],
            cases={law: row[law] for law in LAWS if row.get(law) is not None},
            accusations=_of(row, report["accusations"]),
            inconclusive=_of(row, report["inconclusive"]),
        )
        for row in report["results"]
    ]


def totals(results: Sequence[Result]) -> dict[str, Any]:
    """Sums over all results."""
    examples = sum(one.examples for one in results)
    accusations = sum(len(one.accusations) for one in results)
    by_dtype: Counter[str] = Counter()
    for one in results:
        by_dtype[one.dtype] += one.examples
    return {
        "controls": len({one.control for one in results}),
        "examples": examples,
        "examples_by_dtype": dict(sorted(by_dtype.items())),
        "accusations": accusations,
        "laws_inconclusive": sum(len(one.inconclusive) for one in results),
        # No alarm in n independent cases bounds the rate by 3/n at 95%.
        "false_alarm_rate_below_at_95_percent": None if accusations else 3 / max(examples, 3),
    }


def _row(one: Result) -> Row:
    """Cases by law; None where the decoder does not offer what the law needs."""
    cases = {law: one.cases.get(law) for law in LAWS}
    return {"control": one.control, "dtype": one.dtype, "asked": one.asked, **cases}


def _named(one: Result, row: Row) -> Row:
    """A row of one result with the names of the result."""
    return {"control": one.control, "dtype": one.dtype, **row}


def _of(result: Row, rows: Sequence[Row]) -> list[Row]:
    """Rows of one result without its names."""
    names = ("control", "dtype")
    return [
        {key: value for key, value in row.items() if key not in names}
        for row in rows
        if all(row[name] == result[name] for name in names)
    ]
