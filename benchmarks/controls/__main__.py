"""No false alarm on look-alikes that are right: 5,000 cases of every control in every precision.

python -m benchmarks.controls searches each control of `benchmarks/controls` with every law that it
offers anything for, the cases spread over the laws (fewer for those that take many calls a case),
and writes ``evidence/controls.json`` after each one. ``--resume`` skips what is there already
without an accusation. An hour and a half on two cores.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.controls import CONTROLS
from cachecheck.files import write_whole
from cachecheck.laws import LAWS
from cachecheck.reference.config import Precision
from cachecheck.search import search
from cachecheck.search.cases import Effort
from cachecheck.target import Target, as_target
from cachecheck.verdict import Answer, Code, Reason, Verdict

SEED, SEEDS = 20261130, 16  # of the decoders, each of which has its own configuration
OUT = Path(__file__).parent.parent.parent / "evidence" / "controls.json"
ACCUSED = (Answer.VIOLATED.value, Answer.ERROR.value)
LIGHTER = {"frame": 0.25, "overflow": 0.25, "work": 0.5}
"""Shares of laws that make several times as many calls a case as the others do."""
Job = tuple[str, Precision]


def offered(target: Target) -> list[str]:
    """The laws that some decoder of the target has the members for."""
    decoders = [target.make(seed) for seed in range(SEED, SEED + target.seeds)]
    return [law.id for law in LAWS.values() if any(law.lacking(one) is None for one in decoders)]


def measure(job: Job, examples: int) -> dict[str, Any]:
    """One control in one precision, under all of its laws."""
    name, dtype = job
    began = time.perf_counter()
    target = replace(as_target(partial(CONTROLS[name].make, dtype=dtype), name), seeds=SEEDS)
    verdicts = searched(target, examples)
    done = [one for one in verdicts if one.answer is not Answer.UNSUPPORTED]
    return {
        "control": name,
        "dtype": CONTROLS[name].fixed_dtype or dtype,
        "asked": examples,
        "examples": sum(one.examples for one in done),
        "laws": {one.law: one.examples for one in done},
        "unsupported": [one.law for one in verdicts if one not in done],
        "verdicts": dict(Counter(one.answer.value for one in done)),
        "accusations": [told(one) for one in done if one.answer.value in ACCUSED],
        "in_doubt": [told(one) for one in done if one.answer is Answer.INCONCLUSIVE],
        "seconds": round(time.perf_counter() - began, 1),
    }


def searched(target: Target, examples: int) -> list[Verdict]:
    """Verdicts of the laws offered; a law that proves unsupported gives its share to the others."""
    laws, found, left = offered(target), [], examples
    for at, law in enumerate(laws):
        weights = [LIGHTER.get(one, 1.0) for one in laws[at:]]
        share = math.ceil(left * weights[0] / sum(weights))
        effort = Effort(seed=SEED, examples=share)
        try:
            verdict, _ = search(LAWS[law], target, effort)
        except Exception as error:  # noqa: BLE001 - a mistake of ours, to be looked into as well
            verdict = Verdict(
                law, Answer.ERROR, reasons=(Reason(Code.OUR_OWN, quoted=repr(error)),)
            )
        if verdict.answer is not Answer.UNSUPPORTED:
            left -= verdict.examples  # what was refused is made up for by the others
        elif verdict.not_offered:
            raise AssertionError(f"{target.name}: {law} was offered, and then not")
        found.append(verdict)
    return found


def told(verdict: Verdict) -> dict[str, Any]:
    """What to look into."""
    return {
        "law": verdict.law,
        "verdict": verdict.answer.value,
        "schedule": verdict.schedule,
        "tokens": verdict.tokens and list(verdict.tokens),
        "decoder_seed": verdict.decoder_seed,
        "difference": verdict.largest_difference,
        "tolerance": verdict.tolerance,
        "message": verdict.message,
    }


def write(results: Sequence[dict[str, Any]]) -> None:
    """All results so far, in the order of the controls, with their totals."""
    order = {name: at for at, name in enumerate(CONTROLS)}
    ordered = sorted(results, key=lambda one: (order.get(one["control"], -1), one["dtype"]))
    examples = sum(one["examples"] for one in ordered)
    accusations = sum(len(one["accusations"]) for one in ordered)
    totals = {
        "controls": len({one["control"] for one in ordered}),
        "examples": examples,
        "examples_by_dtype": dict(_by_dtype(ordered)),
        "accusations": accusations,
        "laws_in_doubt": sum(len(one["in_doubt"]) for one in ordered),
        # No alarm in n independent cases bounds the rate by 3/n at 95%.
        "false_alarm_rate_below_at_95_percent": None if accusations else 3 / max(examples, 3),
        "seconds": round(sum(one["seconds"] for one in ordered), 1),
    }
    report = {"seed": SEED, "totals": totals, "results": ordered}
    write_whole(OUT, json.dumps(report, indent=2) + "\n")


def _by_dtype(results: Sequence[dict[str, Any]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for one in results:
        counts[one["dtype"]] += one["examples"]
    return counts


def jobs_of(names: Sequence[str]) -> list[Job]:
    """Each control in both precisions, or once in its only one."""
    jobs: list[Job] = []
    for name in names:
        jobs.append((name, "float64"))
        if CONTROLS[name].fixed_dtype is None:
            jobs.append((name, "float32"))
    return jobs


def main() -> int:
    """Measure what is asked for, keep what is done; 1 if anything was accused."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=5000, help="of each control and precision")
    parser.add_argument("--only", default=",".join(CONTROLS), help="controls, separated by commas")
    parser.add_argument("-n", type=int, default=os.cpu_count(), help="worker processes")
    parser.add_argument("--resume", action="store_true", help="skip what the file has already")
    asked = parser.parse_args()
    kept = json.loads(OUT.read_text(encoding="utf-8"))["results"] if asked.resume else []
    # What was accused is worth another look, for somebody will have seen to it.
    kept = [one for one in kept if one["asked"] >= asked.examples and not one["accusations"]]
    done = {(one["control"], one["dtype"]) for one in kept}
    jobs = [
        job
        for job in jobs_of(asked.only.split(","))
        if (job[0], CONTROLS[job[0]].fixed_dtype or job[1]) not in done
    ]
    print(f"{len(jobs)} to do, {len(kept)} done before", file=sys.stderr)
    try:
        measured(jobs, asked.examples, asked.n, kept)
    except KeyboardInterrupt:
        print("interrupted; what is done is in the file, and --resume goes on", file=sys.stderr)
        return 130
    accused = [one["control"] for one in kept if one["accusations"]]
    print(f"accused: {', '.join(accused) or 'none'}", file=sys.stderr)
    return 1 if accused else 0


def measured(jobs: Sequence[Job], examples: int, workers: int, kept: list[dict[str, Any]]) -> None:
    """Add to ``kept`` and to the file what each job finds, as it ends."""
    with ProcessPoolExecutor(workers) as pool:
        futures = [pool.submit(measure, job, examples) for job in jobs]
        try:
            for number, future in enumerate(as_completed(futures), start=1):
                result = future.result()
                kept.append(result)
                write(kept)
                verdicts = ", ".join(
                    f"{count} {name}" for name, count in result["verdicts"].items()
                )
                said = "{control} {dtype}: {examples} examples, {seconds} s".format(**result)
                print(f"{number} of {len(jobs)}: {said}: {verdicts}", file=sys.stderr, flush=True)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # what is done is in the file
            raise


if __name__ == "__main__":
    sys.exit(main())
