"""Certification and long schedules: what is found, and at what cost.

python -m benchmarks.certifying certifies 24 tokens of the reference, compares both methods for
every length to 12 on the reference and on each wrong mask, shrinks failing schedules of 4,096
tokens, and writes ``evidence/certifying.json``. A minute.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from cachecheck.certify import certify
from cachecheck.commands.shrink import Reduction, Request
from cachecheck.files import write_whole
from cachecheck.reference import WRONG_MASKS, Config, ReferenceDecoder
from cachecheck.target import as_target, load_target

OUT = Path(__file__).parent.parent / "evidence" / "certifying.json"
LENGTH, LONGEST_TREE, RUNS = 24, 12, 5

LONG = {
    "2048+2048": "2048+2048",
    "4095+1": "4095+1",
    "1+4095": "1+4095",
    "1000+2000+1096": "1000+2000+1096",
    "64 calls of 64": "+".join(["64"] * 64),
}


def full_length() -> dict[str, Any]:
    """All partitions of 24 tokens of the frozen model."""
    seconds = []
    for _ in range(RUNS):
        decoder = load_target("reference").make(0)
        decoder.probe()
        started = time.perf_counter()
        found = certify(decoder, LENGTH)
        seconds.append(time.perf_counter() - started)
    return {
        "length": LENGTH,
        "answer": found.answer.value,
        "method": found.method,
        "partitions": found.covered,
        "seconds_best": round(min(seconds), 3),
        "seconds_median": round(statistics.median(seconds), 3),
        "difference": found.largest_difference,
        "drift": found.drift,
    }


def both_methods(mask: str | None) -> dict[str, Any]:
    """Answers and smallest schedules of induction and prefix tree, for every length to 12."""
    # With a window and a sink, so that the faults about windows show as well.
    config = Config(window=4, sinks=1) if mask == "window-from-last-row" else Config()
    rule = {} if mask is None else {"mask_rule": WRONG_MASKS[mask].rule}
    target = as_target(lambda seed: ReferenceDecoder(config, seed=seed, **rule), mask or "right")
    agree, schedules = 0, set()
    for length in range(1, LONGEST_TREE + 1):
        found = certify(target.make(0), length)
        tree = certify(target.make(0), length, method="tree")
        agree += (found.answer, found.schedule) == (tree.answer, tree.schedule)
        schedules.add(tree.schedule or "holds")
    return {
        "mask": mask or "right",
        "lengths": LONGEST_TREE,
        "agree": agree,
        "found": sorted(schedules, key=lambda shown: (len(shown), shown)),
    }


def shrunk(name: str, schedule: str, folder: Path) -> dict[str, Any]:
    """A long failing schedule of the mask that forgets its offset."""
    file = folder / "wrong.py"
    file.write_text(
        "from cachecheck.reference import WRONG_MASKS, ReferenceDecoder\n"
        "def make(seed):\n"
        "    return ReferenceDecoder(seed=seed, mask_rule=WRONG_MASKS['query-restart'].rule)\n"
    )
    reduction = Reduction(Request(f"{file}:make", schedule))
    verdict = reduction.run()
    return {
        "from": name,
        "tokens": reduction.schedule.length,
        "to": verdict.schedule,
        "calls": reduction.decoder.calls,
        "seconds": round(verdict.seconds, 1),
    }


def main() -> None:
    """Measure all, print as it goes, write the file."""
    results: dict[str, Any] = {"full_length": full_length(), "both_methods": [], "shrunk": []}
    print(results["full_length"], file=sys.stderr)
    for mask in (None, *WRONG_MASKS):
        results["both_methods"].append(both_methods(mask))
        print(results["both_methods"][-1], file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        for name, schedule in LONG.items():
            results["shrunk"].append(shrunk(name, schedule, Path(folder)))
            print(results["shrunk"][-1], file=sys.stderr)
    write_whole(OUT, json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
