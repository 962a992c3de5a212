"""The evidence as a table in markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_COLUMNS = "fault, row, wrong release, verdict, smallest schedule, cases, seconds, right release"
_NUMBERS = ("cases", "seconds")


def table(data: Mapping[str, Any]) -> str:
    """A line for each wrong release; the right ones stand on the first line of their row."""
    columns = _COLUMNS.split(", ")
    rule = ["---:" if name in _NUMBERS else "---" for name in columns]
    lines = [_line(columns), _line(rule), *(line for row in data["rows"] for line in _lines(row))]
    return "\n".join(lines) + "\n"


def _lines(row: Mapping[str, Any]) -> Iterator[str]:
    right = [one for one in row["runs"] if one["side"] == "right"]
    names = [_fault(row), row["id"]]
    end = "; ".join(f"{one['version']} {_verdict(row, one)}" for one in right)
    for one in row["runs"]:
        if one["side"] == "wrong":
            schedule = f"`{one['schedule']}`" if one.get("schedule") else ""
            numbers = [str(one.get("examples", "")), _seconds(one)]
            yield _line([*names, one["version"], _verdict(row, one), schedule, *numbers, end])
            names, end = ["", ""], ""


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _fault(row: Mapping[str, Any]) -> str:
    """With a link to the report, where there is one."""
    repository, _, number = row["report"].partition("#")
    if not number:
        return str(row["fault"])
    return f"[{row['fault']}](https://github.com/{repository}/issues/{number})"


def _verdict(row: Mapping[str, Any], run: Mapping[str, Any]) -> str:
    return f"{run['verdict']} {row['law']}"


def _seconds(run: Mapping[str, Any]) -> str:
    return f"{run['seconds']:.1f}" if "seconds" in run else ""
