"""No false alarm on the reference caches: 10,000 random programs each, and every law.

python -m benchmarks.reference_caches searches every kind of cache with the law ``programs`` (10,000
programs) and with every other law that it unlocks (300 cases each), and writes
``evidence/reference_caches.json``. A quarter of an hour on two cores. With names, only these are
measured anew.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.tables import Row, read_report, rounded, write_report
from cachecheck.laws import LAWS
from cachecheck.reference.caches import CACHES
from cachecheck.search import search
from cachecheck.search.cases import Effort
from cachecheck.target import load_target

PROGRAMS, CASES, SEED = 10_000, 300, 20261130
OUT = Path(__file__).parent.parent / "evidence" / "reference_caches.json"


def measure(job: tuple[str, str]) -> Row:
    """Search with one law on one kind of cache."""
    cache, law = job
    target = load_target(f"reference:{cache}")
    examples = PROGRAMS if law == "programs" else CASES
    verdict, _ = search(LAWS[law], target, Effort(seed=SEED, examples=examples))
    return {
        "cache": cache,
        "law": law,
        "verdict": verdict.answer.value,
        "examples": verdict.examples,
        "largest_difference": rounded(verdict.largest_difference),
        "tolerance": rounded(verdict.tolerance),
        "calls": sum(count for _, count in verdict.covered),
        "schedule": verdict.schedule,
        "message": verdict.message,
    }


def main() -> int:
    """Measure all, print as it goes, write the file; 1 if anything was accused."""
    # The long ones first, so that no process is left alone with one at the end.
    laws = sorted(LAWS, key=lambda law: law != "programs")
    chosen = sys.argv[1:] or list(CACHES)
    jobs = [(cache, law) for law in laws for cache in chosen]
    results: list[Row] = []
    if sys.argv[1:]:
        before = read_report(OUT)["results"]
        results = [one for one in before if one["cache"] not in chosen]
    measured_before = len(results)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(measure, jobs):
            results.append(result)
            said = "{cache} {law} {verdict} {examples}".format(**result)
            print(f"{len(results) - measured_before} of {len(jobs)}: {said}", file=sys.stderr)
    order = {name: at for at, name in enumerate([*CACHES, *LAWS])}
    results.sort(key=lambda one: (order[one["cache"]], order[one["law"]]))
    write_report(OUT, {"seed": SEED, "results": results})
    wrong = [one for one in results if one["verdict"] not in ("HOLDS", "UNSUPPORTED")]
    print(f"{len(wrong)} of {len(results)} accused or in doubt", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
