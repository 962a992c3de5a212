"""Faults put into the installed library, to measure how much the zoo's survey of it sees.

python -m benchmarks.engine_faults puts each fault of the catalogue into each of its architectures
and runs the survey of ``cachecheck zoo`` over it (4 cases for each law and variant) until a cell
fails that does not fail without the fault; where none does, the 200 cases of ``cachecheck fuzz``.
Rows of drawn cases are compared with and without, to the bit: a fault that changes none is told
from one that is missed. Writes ``evidence/engine-faults.json``; with ``--only`` the other faults
stay as they are in the file. Ten minutes on two cores; needs the extra transformers. The exit code
is 1 if a control fails in a way that the ledger of known failures does not explain.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.engine_faults.catalogue import FAULTS
from benchmarks.engine_faults.comparing import COMPARED
from benchmarks.engine_faults.fault import ARCHITECTURES
from benchmarks.engine_faults.measuring import EXAMPLES, MANY, SEED, control, measure, silence
from benchmarks.tables import Row, read_report, rounded, write_report

OUT = Path(__file__).parent.parent.parent / "evidence" / "engine-faults.json"
COLUMNS = (
    *("fault", "architecture", "outcome", "cases", "changed", "share"),
    *("variant", "law", "answer", "schedule", "case", "reason", "many"),
)
"""Of a cell; ``reason`` is what was raised, ``many`` what 200 cases found where few did not."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, write, sum up; 1 if a control fails unexpectedly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=FAULTS, metavar="ID", help="these alone")
    parser.add_argument("-n", dest="workers", type=int, default=2, help="processes")
    asked = parser.parse_args(arguments)
    begun, context = time.monotonic(), multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(asked.workers, context, initializer=silence) as pool:
        controls = list(pool.map(control, ARCHITECTURES))
        cells = _measured(pool, asked.only or list(FAULTS), controls)
    seconds = round(time.monotonic() - begun)
    if asked.only:
        old = read_report(OUT)
        seconds, cells = old["seconds"], _merged([*old["cells"], *cells])
    rows = [_row(cell) for cell in cells]
    write_report(OUT, {**_head(seconds), "controls": controls, "cells": rows})
    print(dict(Counter(cell["outcome"] for cell in cells)))
    unknown = [one for each in controls for one in each["failed"] if not one["known"]]
    print("\n".join(map(str, unknown)) or "no control fails but where the ledger says why")
    return 1 if unknown else 0


def _measured(
    pool: Executor, names: Sequence[str], controls: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Every fault in each of its architectures, in the catalogue's order; a line for each."""
    accused = {
        one["architecture"]: frozenset((cell["variant"], cell["law"]) for cell in one["failed"])
        for one in controls
    }
    pairs = [(name, one) for name in names for one in FAULTS[name].architectures]
    jobs = {pool.submit(measure, *pair, accused[pair[1]]): pair for pair in pairs}
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for number, job in enumerate(as_completed(jobs), start=1):
        cell = found[jobs[job]] = job.result()
        how = [
            cell.get(key) for key in ("variant", "law", "answer", "schedule", "many") if key in cell
        ]
        line = f"{number}/{len(pairs)} {cell['fault']} in {cell['architecture']}:"
        print(line, cell["outcome"], *how, file=sys.stderr)
    return [found[pair] for pair in pairs]


def _merged(cells: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The last cell for each pair, in the catalogue's order; those of no fault are left out."""
    last = {(cell["fault"], cell["architecture"]): cell for cell in cells}
    pairs = [(fault.id, one) for fault in FAULTS.values() for one in fault.architectures]
    return [last[pair] for pair in pairs if pair in last]


def _head(seconds: int) -> dict[str, Any]:
    names = ("torch", "transformers", "numpy", "hypothesis")
    faults = [
        {
            "id": one.id,
            "what": one.what,
            "kind": one.kind,
            "place": one.place,
            "variants": one.variants,
        }
        for one in FAULTS.values()
    ]
    return {
        "versions": {name: version(name) for name in names},
        "seed": SEED,
        "examples": EXAMPLES,
        "many": MANY,
        "compared": COMPARED,
        "seconds": seconds,
        "faults": faults,
    }


def _row(cell: dict[str, Any]) -> Row:
    """A cell with every column; None where it has nothing to say."""
    return {**{name: cell.get(name) for name in COLUMNS}, "share": rounded(cell["share"])}


if __name__ == "__main__":
    sys.exit(main())
