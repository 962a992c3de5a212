"""Kills per decoder call: how soon a search meets each fault, before and after a change of cases.

python -m benchmarks.kills_per_call searches each fault with its own law in both precisions, 20
seeds each, and counts cases and decoder calls until the first violation, those of its twin in
float64 included; nothing is shrunk. It writes ``evidence/kills-per-call.csv``, a row a fault and
precision. The ``before`` columns are kept from the file that is there: they were measured in the
same way before the strategies became the source of cases, when Hypothesis' loop drew one number and
a generator of our own made the case from it.
"""

from __future__ import annotations

import argparse
import csv
import io
import statistics
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, get_args

from cachecheck.faults import FAULTS
from cachecheck.files import write_whole
from cachecheck.guard import Guarded
from cachecheck.judge import concluded
from cachecheck.laws import LAWS
from cachecheck.reference.config import Precision
from cachecheck.search import loop
from cachecheck.search.cases import Effort
from cachecheck.target import Target, as_target
from cachecheck.verdict import Answer

OUT = Path(__file__).parent.parent / "evidence" / "kills-per-call.csv"
SEEDS = 20
COLUMNS = ("caught", "cases_median", "cases_worst", "calls")
Row = dict[str, Any]


def measure(name: str, dtype: Precision, seeds: int) -> Row:
    """One fault in one precision, all seeds."""
    fault = FAULTS[name]
    counted: list[Guarded] = []

    def make(seed: int) -> Any:
        return fault.make(seed, dtype)

    target = as_target(make, fault.id)
    making = target.make

    def counting(seed: int) -> Guarded:
        counted.append(making(seed))
        return counted[-1]

    vars(loop)["smallest_violation"] = lambda tally, _make, _first: concluded(tally)
    found = []
    for number in range(seeds):
        counted.clear()
        verdict, _ = loop.search(
            LAWS[fault.law], Target(fault.id, counting, target.seeds), Effort(1000 * number)
        )
        calls = sum(map(_calls, counted))
        found.append((verdict.answer is Answer.VIOLATED, verdict.examples, calls))
    cases = [examples for caught, examples, _ in found if caught]
    return {
        "fault": name,
        "law": fault.law,
        "precision": dtype,
        "seeds": seeds,
        "caught": sum(caught for caught, *_ in found),
        "cases_median": statistics.median(cases) if cases else "",
        "cases_worst": max(cases, default=""),
        "calls": sum(calls for *_, calls in found),
    }


def _calls(decoder: Guarded) -> int:
    exact = vars(decoder).get("float64")  # only where it was looked at
    return decoder.calls + (0 if exact is None else exact.calls)


def before(file: Path) -> dict[tuple[str, str], Row]:
    """The ``before`` columns of the file that is there, by fault and precision."""
    if not file.is_file():
        return {}
    with file.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    return {
        (row["fault"], row["precision"]): {f"{one}_before": row[f"{one}_before"] for one in COLUMNS}
        for row in rows
    }


def as_csv(rows: Sequence[Row], known: Mapping[tuple[str, str], Row]) -> str:
    """The table as text, in the order of the catalogue."""
    names = (
        *("fault", "law", "precision", "seeds"),
        *COLUMNS,
        *(f"{one}_before" for one in COLUMNS),
    )
    stream = io.StringIO()
    writer = csv.DictWriter(stream, names, lineterminator="\n", restval="")
    writer.writeheader()
    for row in rows:
        writer.writerow(row | known.get((row["fault"], row["precision"]), {}))
    return stream.getvalue()


def per_thousand(rows: Sequence[Mapping[str, Any]], suffix: str = "") -> tuple[int, int, float]:
    """Searches that caught their fault, decoder calls, and kills in a thousand calls."""
    caught = sum(int(row[f"caught{suffix}"] or 0) for row in rows)
    calls = sum(int(row[f"calls{suffix}"] or 0) for row in rows)
    return caught, calls, 1000 * caught / max(calls, 1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure all; 1 if a fault escapes on some seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--only", nargs="*", metavar="ID", help="these faults alone")
    parser.add_argument("-n", dest="workers", type=int, default=2, help="processes")
    parsed = parser.parse_args(arguments)
    jobs = [(name, dtype) for name in parsed.only or FAULTS for dtype in get_args(Precision)]
    with ProcessPoolExecutor(parsed.workers) as pool:
        rows = list(pool.map(partial(_measured, seeds=parsed.seeds), jobs))
    write_whole(parsed.out, as_csv(rows, before(OUT)))
    caught, calls, rate = per_thousand(rows)
    print(f"{caught} of {len(rows) * parsed.seeds} caught, {calls} calls, {rate:.2f} per thousand")
    return 0 if caught == len(rows) * parsed.seeds else 1


def _measured(job: tuple[str, Precision], seeds: int) -> Row:
    return measure(*job, seeds)


if __name__ == "__main__":
    sys.exit(main())
