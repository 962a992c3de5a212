"""The kill matrix as text: from the files in evidence/kill-matrix."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cachecheck.faults import FAULTS
from cachecheck.laws import LAWS

FOLDER = Path(__file__).parent.parent / "evidence" / "kill-matrix"
KILLED = "VIOLATED"


def load() -> list[dict[str, Any]]:
    """One entry a fault, in the order of the catalogue."""
    found = {path.stem: json.loads(path.read_text()) for path in FOLDER.glob("*.json")}
    return [found[name] for name in FAULTS if name in found]


def cells(found: Sequence[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], str, dict[str, Any]]]:
    """Each fault in each precision."""
    for fault in found:
        for dtype, one in fault["dtypes"].items():
            yield fault, dtype, one


def summary() -> str:
    """What the matrix amounts to, in two sentences or three."""
    found = load()
    runs = [run for _, _, one in cells(found) for run in one["runs"]]
    caught = [run for run in runs if run["verdict"] == KILLED]
    examples = [run["examples"] for run in caught]
    compared = [run["agrees"] for run in caught if run.get("agrees")]
    equal = compared.count("equal")
    everywhere = sum(one["caught"] == one["seeds"] for _, _, one in cells(found))
    return (
        f"{len(found)} faults in float64 and float32, {found[0]['dtypes']['float64']['seeds']} "
        f"seeds each: {len(caught):,} of {len(runs):,} searches caught their fault within 200 "
        f"cases ({everywhere} of {2 * len(found)} on every seed), by the case number "
        f"{statistics.median(examples):g} in the median and {max(examples)} at worst. Of "
        f"{len(compared):,} shrunk schedules that could be compared with the certified minimum, "
        f"{equal:,} ({equal / len(compared):.1%}) equal it."
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def faults_table() -> str:
    """A row a fault: hit, caught, cases and seconds to catch, schedules against the minimum."""
    rows = []
    for fault in load():
        both = list(fault["dtypes"].values())
        schedules = sorted(
            {text for one in both for text in one["schedules"]}, key=lambda text: (len(text), text)
        )
        shown = ", ".join(f"`{text}`" for text in schedules[:3])
        certified = sum(one["certified"] for one in both)
        rows.append(
            [
                f"`{fault['id']}`",
                f"`{fault['law']}`",
                " / ".join(f"{one['hit']} of {one['of']}" for one in both),
                " / ".join(f"{one['caught']} of {one['seeds']}" for one in both),
                " / ".join(f"{one['examples_median']:g}" for one in both),
                " / ".join(str(one["examples_worst"]) for one in both),
                " / ".join(f"{one['seconds_median']:.2f}" for one in both),
                " / ".join(f"{one['seconds_worst']:.2f}" for one in both),
                shown + (", ..." if len(schedules) > 3 else ""),
                f"{sum(one['equal'] for one in both)} of {certified}" if certified else "-",
            ]
        )
    head = ["fault", "law", "hit", "caught", "cases, median", "worst", "seconds, median", "worst"]
    return _table([*head, "smallest schedules", "equals the certified minimum"], rows)


def laws_table() -> str:
    """A row a law: how many faults it kills in a few cases, and how many it alone is named for."""
    found = load()
    rows = []
    for law in LAWS:
        counts = []
        for dtype in ("float64", "float32"):
            verdicts = [fault["dtypes"][dtype]["laws"][law]["verdict"] for fault in found]
            can = sum(verdict not in ("UNSUPPORTED", "ERROR") for verdict in verdicts)
            counts.append(f"{verdicts.count(KILLED)} of {can}")
        named = sum(fault["law"] == law for fault in found)
        rows.append([f"`{law}`", *counts, named])
    head = ["law", "faults killed, float64", "float32", "faults it is named for"]
    return _table(head, rows)


def unequal_table() -> str:
    """Where the shrunk schedule is not the certified one: local minima of single moves."""
    rows = [
        [
            f"`{fault['id']}`",
            dtype,
            run["decoder_seed"],
            f"`{run['schedule']}`",
            f"`{run['certified']}`",
        ]
        for fault, dtype, one in cells(load())
        for run in one["runs"]
        if run.get("agrees") not in (None, "equal")
    ]
    return _table(["fault", "precision", "seed", "shrunk", "certified"], rows)
