"""The kill matrix: every fault against every law, in float64 and float32.

python -m benchmarks.kill_matrix measures, for each fault and precision: on how many cases it
changes anything at all; over 20 seeds, whether its own law catches it within the default budget,
after how many cases and seconds, and whether the shrunk schedule is the certified minimum; and one
search with every other law. Each fault's result is written to ``evidence/kill-matrix/`` as soon as
it is there, and a second start goes on from those (``--fresh`` begins anew).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any, get_args

from benchmarks.kills import CANARY, HIT_CASES, hits, runs, summary, verdict_of
from cachecheck.faults import FAULTS
from cachecheck.files import write_whole
from cachecheck.laws import LAWS
from cachecheck.reference.config import Precision
from cachecheck.target import as_target

OUT = Path(__file__).parent.parent / "evidence" / "kill-matrix"
DTYPES: tuple[Precision, ...] = get_args(Precision)


def measure(name: str, seeds: int, breadth: int, patience: int) -> dict[str, Any]:
    """Everything about one fault."""
    fault = FAULTS[name]
    about = {key: getattr(fault, key) for key in ("id", "host", "kind", "mechanism", "law", "when")}
    result: dict[str, Any] = {**about, "smallest": fault.smallest, "dtypes": {}}
    for dtype in DTYPES:
        target = as_target(partial(fault.make, dtype=dtype), fault.id)
        found = runs(fault, dtype, seeds, patience)
        result["dtypes"][dtype] = {
            "hit": hits(fault, LAWS[fault.law], dtype),
            "of": HIT_CASES,
            **summary(found),
            "canary": verdict_of(CANARY, target, 1)["verdict"],
            "laws": {law: verdict_of(LAWS[law], target, breadth) for law in LAWS},
            "runs": found,
        }
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is not measured yet; 1 if a fault escapes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20, help="searches a fault and precision")
    parser.add_argument("--breadth", type=int, default=12, help="cases for each other law")
    parser.add_argument("--patience", type=int, default=12, help="seconds to certify a fault")
    parser.add_argument("--only", nargs="*", metavar="ID", help="these faults alone")
    parser.add_argument("--fresh", action="store_true", help="measure all anew")
    parser.add_argument("-n", dest="workers", type=int, default=2, help="processes")
    parsed = parser.parse_args(arguments)
    OUT.mkdir(parents=True, exist_ok=True)
    names = [name for name in FAULTS if not parsed.only or name in parsed.only]
    if not parsed.fresh:
        names = [name for name in names if parsed.only or not (OUT / f"{name}.json").exists()]
    options = (parsed.seeds, parsed.breadth, parsed.patience)
    escaped = 0
    with ProcessPoolExecutor(parsed.workers) as pool:
        waiting = {pool.submit(measure, name, *options): name for name in names}
        for number, done in enumerate(as_completed(waiting), start=1):
            result = done.result()
            write_whole(OUT / f"{result['id']}.json", json.dumps(result) + "\n")
            for dtype, one in result["dtypes"].items():
                escaped += one["caught"] < one["seeds"]
                print(
                    f"{number}/{len(names)} {result['id']:<42} {dtype} {result['law']:<11} "
                    f"caught {one['caught']}/{one['seeds']}, examples {one['examples_median']} "
                    f"(worst {one['examples_worst']}), equal {one['equal']}/{one['certified']}",
                    file=sys.stderr,
                    flush=True,
                )
    return 1 if escaped else 0


if __name__ == "__main__":
    sys.exit(main())
