"""The kill matrix: every fault against every law, in float64 and float32.

python -m benchmarks.kill_matrix measures, for each fault and precision: on how many cases it
changes anything at all; over 20 seeds, whether its own law catches it within the default budget,
after how many cases, and whether the shrunk schedule is the certified minimum; and one search with
every law. It writes ``kill-matrix.csv`` and ``kill-matrix-unequal.csv`` into ``evidence/`` once
all is measured. With ``--only``, the rows of other faults stay as they are there.

Each fault's raw result goes into ``build/kill-matrix/`` as soon as it is there. A second start goes
on from those that the same code measured with as many seeds.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import kill_rows
from benchmarks.kill_rows import EVIDENCE, MATRIX, KillRow, rows_of, unequal_of
from benchmarks.kills import measure
from cachecheck.faults import FAULTS
from cachecheck.files import write_whole

ROOT = Path(__file__).parent.parent
RAW = ROOT / "build" / "kill-matrix"
SEEDS = 20


def fingerprint() -> str:
    """A digest of what a result depends on: the code, and the libraries that draw and compute."""
    digest = hashlib.sha256()
    for path in sorted([*(ROOT / "cachecheck").rglob("*.py"), *ROOT.glob("benchmarks/*.py")]):
        digest.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    digest.update(f"numpy {version('numpy')} hypothesis {version('hypothesis')}".encode())
    return digest.hexdigest()


def measured(raw: Path, asked: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The results in the folder ``raw`` that were measured with the same code and options."""
    found = {}
    for path in (raw / f"{name}.json" for name in names):
        if path.is_file():
            stored = json.loads(path.read_text(encoding="utf-8"))
            if stored["asked"] == asked:
                found[path.stem] = stored["result"]
    return found


def measure_all(names: Sequence[str], raw: Path, seeds: int, workers: int) -> list[dict[str, Any]]:
    """The results of these faults, in their order; those in ``raw`` are not measured again."""
    asked = {"seeds": seeds, "code": fingerprint()}
    raw.mkdir(parents=True, exist_ok=True)
    found = measured(raw, asked, names)
    missing = [name for name in names if name not in found]
    print(f"{len(missing)} to do, {len(found)} done before", file=sys.stderr)
    with ProcessPoolExecutor(workers) as pool:
        jobs = {pool.submit(partial(measure, seeds=seeds), name): name for name in missing}
        for number, job in enumerate(as_completed(jobs), start=1):
            name, result = jobs[job], job.result()
            found[name] = result
            text = json.dumps({"asked": asked, "result": result})
            write_whole(raw / f"{name}.json", text + "\n")
            for row in rows_of(result):
                print(f"{number}/{len(missing)} {_line(row)}", file=sys.stderr, flush=True)
    return [found[name] for name in names]


def _line(row: KillRow) -> str:
    """A row as it is printed when it is there."""
    return (
        f"{row.fault:<42} {row.precision} {row.law:<11} caught {row.caught}/{row.seeds}, "
        f"cases {row.median} (worst {row.worst}), equal {row.equal}/{row.certified}"
    )


def write(results: Sequence[dict[str, Any]], out: Path) -> None:
    """Write the tables: these faults anew, others of the catalogue as they are in ``out``."""
    anew = {result["id"] for result in results}
    rows = [row for result in results for row in rows_of(result)]
    unequal = [one for result in results for one in unequal_of(result)]
    out.mkdir(parents=True, exist_ok=True)
    others = set(FAULTS) - anew
    if others and (out / MATRIX).is_file():
        rows += [row for row in kill_rows.read(out) if row.fault in others]
        unequal += [one for one in kill_rows.read_unequal(out) if one.fault in others]
    kill_rows.write(out, rows, unequal)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is not measured yet, write the tables; 1 if a fault escapes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="searches a fault and precision")
    parser.add_argument("--only", nargs="+", choices=FAULTS, metavar="ID", help="these alone")
    parser.add_argument("--raw", type=Path, default=RAW, help="folder of raw results")
    parser.add_argument("--out", type=Path, default=EVIDENCE, help="folder of the tables")
    parser.add_argument("-n", dest="workers", type=int, default=2, help="processes")
    asked = parser.parse_args(arguments)
    results = measure_all(asked.only or list(FAULTS), asked.raw, asked.seeds, asked.workers)
    write(results, asked.out)
    escaped = [row.fault for one in results for row in rows_of(one) if row.caught < row.seeds]
    print(f"escaped: {', '.join(escaped) or 'none'}", file=sys.stderr)
    return 1 if escaped else 0


if __name__ == "__main__":
    sys.exit(main())
