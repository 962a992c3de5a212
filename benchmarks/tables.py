"""Measurements as tables: columns are named once, every row has a line of its own.

So a file is small, and measuring again changes the lines of what came out otherwise and no other.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cachecheck.files import write_whole

Row = dict[str, Any]
"""Values by the names of their columns."""


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as comma-separated values, whole or not at all; texts without carriage returns.

    Raises:
        ValueError: a row has other columns than these.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(_cells(columns, row) for row in rows)
    write_whole(path, text.getvalue())


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows that `write_csv` wrote; every value is text."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_report(path: Path, report: Mapping[str, Any]) -> None:
    """Write a report as JSON, whole or not at all; a list of rows in it becomes a table.

    Raises:
        ValueError: rows of one list have different columns.
    """
    parts = [f"{json.dumps(name)}: {_encoded(value)}" for name, value in report.items()]
    write_whole(path, "{" + ",\n".join(parts) + "}\n")


def read_report(path: Path) -> Any:
    """The report that `write_report` wrote, its tables as lists of rows again."""
    report = json.loads(path.read_text(encoding="utf-8"))
    return {name: _decoded(value) for name, value in report.items()}


def rounded(value: float | None) -> float | None:
    """A measured number to four significant digits, beyond which machines differ."""
    return None if value is None else float(f"{value:.4g}")


def _encoded(value: Any) -> str:
    """A value as JSON: lists of rows as tables, everything else on one line."""
    if not (isinstance(value, list) and value and isinstance(value[0], Mapping)):
        return json.dumps(value)
    columns = list(value[0])
    lines = ",\n".join(json.dumps(_cells(columns, row), separators=(",", ":")) for row in value)
    return f'{{"columns": {json.dumps(columns)}, "rows": [\n{lines}\n]}}'


def _decoded(value: Any) -> Any:
    """The inverse of `_encoded`, after JSON."""
    if not (isinstance(value, dict) and list(value) == ["columns", "rows"]):
        return value
    return [dict(zip(value["columns"], row, strict=True)) for row in value["rows"]]


def _cells(columns: Sequence[str], row: Mapping[str, Any]) -> list[Any]:
    """The row's values in the order of the columns."""
    if set(row) != set(columns):
        raise ValueError(f"expected the columns {', '.join(columns)}; got {', '.join(row)}")
    return [row[name] for name in columns]
