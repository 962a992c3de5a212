"""What a case is worth, by how it was drawn, from ``evidence/kills-per-call.json``."""

from __future__ import annotations

from benchmarks.pages.measured import tables
from cachecheck.report.markdown import table

FILE = "kills-per-call.json"


def draws_table() -> str:
    """A row for each way to draw, all faults together."""
    head = ("cases", "caught", "decoder calls", "kills in a thousand calls")
    rows = [
        (
            one["drawn"],
            f"{one['caught']:,} of {one['searches']:,}",
            f"{one['calls']:,}",
            f"{one['kills per 1,000 calls']:g}",
        )
        for one in tables(FILE)["totals"]
    ]
    return table(head, rows)


def draws_summary() -> str:
    """The same in sentences."""
    return " ".join(
        f"{one['drawn'][:1].upper()}{one['drawn'][1:]}: {one['caught']:,} of {one['searches']:,} "
        f"searches caught their fault, {one['kills per 1,000 calls']:g} kills in a thousand calls."
        for one in tables(FILE)["totals"]
    )
