"""No false alarm on look-alikes that are right: 5,000 cases of every control in every precision.

python -m benchmarks.controls searches each control of `benchmarks/controls` with every law that it
offers anything for, the cases spread over the laws (fewer for those that take many calls a case),
and writes ``evidence/controls.json`` after each one. ``--resume`` skips what is there already
without an accusation; with ``--only``, other controls stay as they are in the file. An hour and a
half on two cores.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.controls import CONTROLS
from benchmarks.controls.results import SEED, Result, read_results, write_results
from benchmarks.tables import Row, rounded
from cachecheck.laws import LAWS
from cachecheck.reference.config import Precision
from cachecheck.search import search
from cachecheck.search.cases import Effort
from cachecheck.target import Target, as_target
from cachecheck.verdict import Answer, Code, Reason, Verdict

SEEDS = 16  # of the decoders, each of which has its own configuration
OUT = Path(__file__).parent.parent.parent / "evidence" / "controls.json"
ACCUSED = (Answer.VIOLATED, Answer.ERROR)
Job = tuple[str, Precision]


def offered(target: Target) -> list[str]:
    """The laws that some decoder of the target has the members for."""
    decoders = [target.make(seed) for seed in range(SEED, SEED + target.seeds)]
    return [law.id for law in LAWS.values() if any(law.lacking(one) is None for one in decoders)]


def measure(job: Job, examples: int) -> tuple[Result, str]:
    """One control in one precision, under all of its laws; and how many verdicts of each kind."""
    name, dtype = job
    target = replace(as_target(partial(CONTROLS[name].make, dtype=dtype), name), seeds=SEEDS)
    verdicts = searched(target, examples)
    result = Result(
        control=name,
        dtype=CONTROLS[name].fixed_dtype or dtype,
        asked=examples,
        cases={
            one.law: 0 if one.answer is Answer.UNSUPPORTED else one.examples for one in verdicts
        },
        accusations=[described(one) for one in verdicts if one.answer in ACCUSED],
        inconclusive=[described(one) for one in verdicts if one.answer is Answer.INCONCLUSIVE],
    )
    counts = Counter(one.answer.value for one in verdicts)
    return result, ", ".join(f"{count} {answer}" for answer, count in counts.items())


def searched(target: Target, examples: int) -> list[Verdict]:
    """The verdicts of the laws offered; one that proves unsupported gives its share to others."""
    laws, found, left = offered(target), [], examples
    for at, law in enumerate(laws):
        weights = [1 / LAWS[one].calls for one in laws[at:]]
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


def described(verdict: Verdict) -> Row:
    """A row to look into."""
    return {
        "law": verdict.law,
        "verdict": verdict.answer.value,
        "schedule": verdict.schedule,
        "tokens": verdict.tokens and list(verdict.tokens),
        "decoder_seed": verdict.decoder_seed,
        "difference": rounded(verdict.largest_difference),
        "tolerance": rounded(verdict.tolerance),
        "message": verdict.message,
    }


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
    chosen = asked.only.split(",")
    earlier = read_results(OUT) if OUT.is_file() else []
    others = [one for one in earlier if one.control in CONTROLS and one.control not in chosen]
    # What was accused is worth another look, for somebody will have seen to it.
    done = [
        one
        for one in earlier
        if asked.resume and one.control in chosen
        if one.asked >= asked.examples and not one.accusations
    ]
    places = {(one.control, one.dtype) for one in done}
    jobs = [
        job
        for job in jobs_of(chosen)
        if (job[0], CONTROLS[job[0]].fixed_dtype or job[1]) not in places
    ]
    print(f"{len(jobs)} to do, {len(done)} done before", file=sys.stderr)
    results = [*others, *done]
    try:
        measure_all(jobs, asked.examples, asked.n, results)
    except KeyboardInterrupt:
        print("interrupted; what is done is in the file, and --resume goes on", file=sys.stderr)
        return 130
    accused = [one.control for one in results if one.accusations]
    print(f"accused: {', '.join(accused) or 'none'}", file=sys.stderr)
    return 1 if accused else 0


def measure_all(jobs: Sequence[Job], examples: int, workers: int, results: list[Result]) -> None:
    """Add to ``results`` and to the file what each job finds, as it ends."""
    with ProcessPoolExecutor(workers) as pool:
        futures = [pool.submit(measure, job, examples) for job in jobs]
        try:
            for number, future in enumerate(as_completed(futures), start=1):
                result, verdicts = future.result()
                results.append(result)
                write_results(OUT, results)
                said = f"{result.control} {result.dtype}: {result.examples} examples: {verdicts}"
                print(f"{number} of {len(jobs)}: {said}", file=sys.stderr, flush=True)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # what is done is in the file
            raise


if __name__ == "__main__":
    sys.exit(main())
