"""Deliberately broken caches: whether each is caught, and shrunk to the smallest schedule there is.

python -m benchmarks.broken_caches searches with the law that each fault names, over 20 seeds; what
the search ends with is compared with the smallest failing schedule that an enumeration of all
finds on the same decoder. Writes ``evidence/broken_caches.json``.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any

from cachecheck.cases import Effort
from cachecheck.certify import certify, certify_programs
from cachecheck.faults import FAULTS, Fault
from cachecheck.files import write_whole
from cachecheck.guard import Guarded
from cachecheck.laws import LAWS
from cachecheck.schedule import Schedule
from cachecheck.schedule.steps import key_of
from cachecheck.search import search
from cachecheck.target import as_target

SEEDS = 20
OUT = Path(__file__).parent.parent / "evidence" / "broken_caches.json"

CERTIFIED_SEEDS = {
    "batched-merge-swaps-rows": 1,
    "paged-no-copy-on-write": 1,
    "hybrid-reorder-skips-layer": 8,
    "static-fork-shares-buffers": 8,
    "shared-tip-overwritten": 8,
}
"""On how many seeds, where hundreds or thousands of programs are smaller than the failing one."""


def smallest(fault: Fault, decoder: Guarded) -> str | None:
    """The smallest schedule on which ``decoder`` fails; None where its law cannot be certified."""
    law = LAWS[fault.law]
    if law.operations:
        found = certify_programs(decoder, law, tokens=fault.tokens, steps=fault.steps)
        return found.schedule
    return certify(decoder, fault.tokens).schedule if law.id == "schedule" else None


def compared(shrunk: str | None, certified: str | None) -> str | None:
    """Whether the shrunk schedule equals the certified one; a smaller one has too many steps.

    The enumeration stops at the fault's number of steps: fewer tokens in more steps escape it.
    """
    if shrunk is None or certified is None:
        return None
    if shrunk == certified:
        return "equal"
    return "smaller" if _size(shrunk) < _size(certified) else "larger"


def _size(text: str) -> tuple[int, int, list[tuple[int, ...]]]:
    steps = Schedule.parse(text).steps
    return Schedule.parse(text).length, len(steps), [key_of(step) for step in steps]


def measure(fault: Fault) -> dict[str, Any]:
    """One fault over all seeds."""
    target = as_target(fault.make, fault.id)
    known: dict[int, str | None] = {}
    runs = []
    for number in range(SEEDS):
        verdict, _ = search(LAWS[fault.law], target, Effort(seed=1000 * number))
        seed = verdict.decoder_seed
        certified = None
        if seed is not None and number < CERTIFIED_SEEDS.get(fault.id, SEEDS):
            if seed not in known:
                known[seed] = smallest(fault, target.make(seed))
            certified = known[seed]
        runs.append(
            {
                "seed": 1000 * number,
                "verdict": verdict.answer.value,
                "examples": verdict.examples,
                "schedule": verdict.schedule,
                "decoder_seed": seed,
                "certified": certified,
                "agrees": compared(verdict.schedule, certified),
            }
        )
    return {**_about(fault), **_summary(runs), "runs": runs}


def _about(fault: Fault) -> dict[str, Any]:
    names = ("id", "kind", "mechanism", "symptom", "law")
    return {name: getattr(fault, name) for name in names}


def _summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    caught = [one["examples"] for one in runs if one["verdict"] == "VIOLATED"]
    agrees = [one["agrees"] for one in runs if one["agrees"] is not None]
    return {
        "seeds": len(runs),
        "caught": len(caught),
        "examples_median": statistics.median(caught) if caught else None,
        "examples_worst": max(caught, default=None),
        "schedules": sorted({str(one["schedule"]) for one in runs}),
        "certified": len(agrees),
        **{answer: agrees.count(answer) for answer in ("equal", "smaller", "larger")},
    }


def main() -> None:
    """Measure all, with progress on stderr, write the file, print a summary."""
    results = []
    for number, fault in enumerate(FAULTS.values(), start=1):
        print(f"{number}/{len(FAULTS)} {fault.id}", file=sys.stderr)
        results.append(measure(fault))
    write_whole(OUT, json.dumps(results, indent=2) + "\n")
    for one in results:
        print(
            f"{one['id']:<30} {one['law']:<9} caught {one['caught']}/{one['seeds']}, "
            f"examples {one['examples_median']} (worst {one['examples_worst']}), "
            f"equal {one['equal']}/{one['certified']}: {'; '.join(one['schedules'])}"
        )
    total = {name: sum(one[name] for one in results) for name in ("caught", "seeds")}
    print(f"{total['caught']} of {total['seeds']} searches caught their fault")


if __name__ == "__main__":
    main()
