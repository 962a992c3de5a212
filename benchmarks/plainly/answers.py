"""What the plain checks say, from their rows alone: no library is needed here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]

_DECLINED = re.compile("crop.*was called")
"""How a window that has evicted what a rollback needs says so."""


def shows(row: Row) -> bool:
    """Whether plain calls differ by more than rounding, or a promised bound, explains."""
    return bool(row.get("difference", 0.0) > row["tolerance"])


def refuses(row: Row) -> bool:
    """Whether the library declined a rollback in words."""
    return bool(_DECLINED.search(row.get("raised", "")))


def problems(rows: Sequence[Row]) -> list[str]:
    """A line for each that should be otherwise."""
    return [
        f"{row['architecture']}/{row['variant']} {row['check']}: "
        f"{row.get('raised', row.get('difference'))}, "
        f"{'accused' if row['accused'] else 'holds'}, tolerance {row['tolerance']}"
        for row in rows
        if row["accused"] != shows(row) or ("raised" in row and not refuses(row))
    ]


def summary(rows: Sequence[Row]) -> str:
    """What it amounts to."""
    accused = [row for row in rows if row["accused"]]
    others = [row for row in rows if not row["accused"]]
    cells = sum(len(row["laws"]) for row in accused)
    return (
        f"{cells} cells accuse, in {len(accused)} checks of "
        f"{len({row['architecture'] for row in accused})} architectures: plain calls show "
        f"{sum(map(shows, accused))} of the {len(accused)}. Of {len(others):,} checks of what "
        f"holds, in {len({row['architecture'] for row in others})} architectures, "
        f"{sum(map(shows, others))} show a difference and {sum(map(refuses, others))} are declined "
        "in words."
    )


def by_finding(rows: Sequence[Row]) -> list[list[str]]:
    """For each finding its architectures, checks, and how many of them show it."""
    found = []
    for name in sorted({row["finding"] for row in rows if row["accused"]}):
        own = [row for row in rows if row["accused"] and row["finding"] == name]
        kinds = sorted({row["check"] for row in own})
        shown = ", ".join(f"`{kind}`" for kind in kinds[:4]) + (", ..." if kinds[4:] else "")
        count = len({row["architecture"] for row in own})
        found.append([f"`{name}`", str(count), f"{sum(map(shows, own))} of {len(own)}", shown])
    return found
