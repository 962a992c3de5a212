"""The kill matrix as text, from ``evidence/kill-matrix.csv``."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from benchmarks.kill_rows import KILLED, KillRow, read, read_unequal
from benchmarks.pages.measured import share
from cachecheck.faults import FAULTS
from cachecheck.laws import LAWS
from cachecheck.report.markdown import table

PRECISIONS = ("float64", "float32")
_SHOWN = 3
"""Schedules of a fault in its row; the file has all of them."""


def by_fault() -> dict[str, list[KillRow]]:
    """The rows of each fault, in the order of the catalogue and of `PRECISIONS`."""
    found = {(row.fault, row.precision): row for row in read()}
    names = [name for name in FAULTS if (name, PRECISIONS[0]) in found]
    return {name: [found[name, precision] for precision in PRECISIONS] for name in names}


def summary() -> str:
    """The figures of the whole matrix, in two sentences."""
    rows = read()
    searches, caught = sum(row.seeds for row in rows), sum(row.caught for row in rows)
    cases = [count for row in rows for count in row.cases]
    everywhere = sum(row.caught == row.seeds for row in rows)
    equal, certified = sum(row.equal for row in rows), sum(row.certified for row in rows)
    return (
        f"{len(by_fault())} faults in float64 and float32, {rows[0].seeds} seeds each: "
        f"{share(caught, searches)} searches caught their fault within 200 cases "
        f"({everywhere} of {len(rows)} on every seed), by the case number "
        f"{statistics.median(cases):g} in the median and {max(cases)} at worst. Of the shrunk "
        f"schedules that could be compared with the certified minimum, "
        f"{share(equal, certified)} equal it."
    )


def faults_table() -> str:
    """A row for each fault: hit, caught, cases until then, schedules against the minimum."""
    head = ["fault", "law", "hit", "caught", "cases, median", "worst"]
    rows = [_line(name, rows) for name, rows in by_fault().items()]
    return table([*head, "smallest schedules", "equals the certified minimum"], rows)


def _line(name: str, rows: Sequence[KillRow]) -> list[str]:
    certified = sum(row.certified for row in rows)
    return [
        f"`{name}`",
        f"`{rows[0].law}`",
        " / ".join(f"{row.hit} of {row.of}" for row in rows),
        " / ".join(f"{row.caught} of {row.seeds}" for row in rows),
        " / ".join(row.median for row in rows),
        " / ".join(row.worst for row in rows),
        _schedules(rows),
        f"{sum(row.equal for row in rows)} of {certified}" if certified else "-",
    ]


def _schedules(rows: Sequence[KillRow]) -> str:
    """The smallest schedules of all precisions, a few of them."""
    found = sorted({text for row in rows for text in row.schedules}, key=lambda s: (len(s), s))
    shown = ", ".join(f"`{text}`" for text in found[:_SHOWN])
    return shown + (", ..." if len(found) > _SHOWN else "")


def laws_table() -> str:
    """A row for each law: how many faults it kills in a few cases, and those it is named for."""
    found = by_fault()
    rows = []
    for law in LAWS:
        counts = []
        for place in range(len(PRECISIONS)):
            verdicts = [each[place].verdicts[law] for each in found.values()]
            tried = sum(verdict not in ("UNSUPPORTED", "ERROR") for verdict in verdicts)
            counts.append(f"{verdicts.count(KILLED)} of {tried}")
        named = sum(each[0].law == law for each in found.values())
        rows.append([f"`{law}`", *counts, str(named)])
    return table(["law", "faults killed, float64", "float32", "faults it is named for"], rows)


def unequal_table() -> str:
    """A row for each shrunk schedule that is not the certified one."""
    order = {name: place for place, name in enumerate(FAULTS)}
    rows = [
        [
            f"`{one.fault}`",
            one.precision,
            str(one.decoder_seed),
            f"`{one.shrunk}`",
            f"`{one.certified}`",
        ]
        for one in sorted(read_unequal(), key=lambda one: order.get(one.fault, len(order)))
    ]
    return table(["fault", "precision", "decoder seed", "shrunk", "certified"], rows)
