"""Writes ``evidence/README.md`` from the measured files beside it: python docs/evidence.py."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cachecheck.files import write_whole

EVIDENCE = Path(__file__).parent.parent / "evidence"
PAGE = EVIDENCE / "README.md"


def load(name: str) -> Any:
    """A measured file."""
    return json.loads((EVIDENCE / name).read_text(encoding="utf-8"))


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def frozen() -> str:
    """The nine errors and six counts of the published experiment."""
    results = load("frozen/results.json")
    names = [name for name in results[0] if name != "seed"]
    rows = []
    for name in sorted(names, key=lambda name: not name.endswith(("error", "change"))):
        values = [result[name] for result in results]
        small = all(isinstance(value, float) and value < 1e-9 for value in values)
        shown = [
            (f"{value:.2e}" if small else f"{value:.6f}") if isinstance(value, float) else value
            for value in values
        ]
        rows.append([f"`{name}`", *shown])
    return table(["", *(f"seed {result['seed']}" for result in results)], rows)


def shrinking() -> str:
    """What each wrong mask shrinks to."""
    rows = [
        [
            f"`{one['mask']}`",
            one["positions"],
            one["window"] or "-",
            ", ".join(f"{verdict} ({count})" for verdict, count in one["verdicts"].items()),
            f"{one['examples_median']:g}",
            one["examples_worst"],
        ]
        for one in load("shrinking.json")
    ]
    head = ["wrong mask", "positions", "window", "verdict and schedule (seeds)", "median", "worst"]
    return table(head, rows)


def late() -> str:
    """Faults that fire late or rarely."""
    rows = [
        [
            one["fault"],
            f"{one['caught']} of {one['seeds']}",
            f"{one['examples_median']:g}",
            one["examples_worst"],
            ", ".join(f"`{schedule}`" for schedule in one["schedules"]),
        ]
        for one in load("late_faults.json")
    ]
    return table(["wrong only at", "caught", "median", "worst", "smallest schedule"], rows)


def engines() -> str:
    """Hugging Face's own code, right and patched."""
    rows = []
    for run in load("hugging_face.json")["runs"]:
        verdicts = ", ".join(f"{v['law']} {v['verdict']}" for v in run["verdicts"])
        broken = [v["schedule"] for v in run["verdicts"] if v["verdict"] == "VIOLATED"]
        rows.append([f"`{run['target']}`", verdicts, ", ".join(broken) or "-", run["exit_code"]])
    return table(["target", "verdicts", "smallest schedule", "exit code"], rows)


def caches() -> str:
    """The reference caches under every law they unlock: cases each, all without an alarm."""
    results = load("reference_caches.json")["results"]
    laws = list(dict.fromkeys(one["law"] for one in results))
    rows = []
    for name in dict.fromkeys(one["cache"] for one in results):
        by_law = {one["law"]: one for one in results if one["cache"] == name}
        cells = [
            f"{one['examples']:,}" if one["verdict"] == "HOLDS" else one["verdict"].lower()
            for one in (by_law[law] for law in laws)
        ]
        calls = sum(one["calls"] for one in by_law.values())
        rows.append([f"`{name}`", *(c.replace("unsupported", "-") for c in cells), f"{calls:,}"])
    return table(["cache", *laws, "calls"], rows)


def broken() -> str:
    """Deliberately broken caches: caught, and shrunk to the certified minimum."""
    rows = [
        [
            f"`{one['id']}`",
            one["symptom"],
            f"`{one['law']}`",
            f"{one['caught']} of {one['seeds']}",
            f"{one['examples_median']:g}",
            one["examples_worst"],
            ", ".join(f"`{schedule}`" for schedule in one["schedules"]),
            f"{one['equal']} of {one['certified']}" if one["certified"] else "-",
        ]
        for one in load("broken_caches.json")
    ]
    head = ["fault", "what is wrong", "law", "caught", "median", "worst"]
    return table([*head, "smallest schedule", "equals the certified minimum"], rows)


def certifying() -> str:
    """All partitions of 24 tokens, both methods side by side, long schedules made small."""
    found = load("certifying.json")
    whole = found["full_length"]
    line = (
        f"All {whole['partitions']:,} partitions of {whole['length']} tokens of the reference: "
        f"{whole['answer']} by {whole['method']}, in {whole['seconds_median']} s "
        f"(median of 5; best {whole['seconds_best']} s); "
        f"largest difference {whole['difference']:.1e}, over a token a call {whole['drift']:.1e}."
    )
    methods = [
        [f"`{one['mask']}`", f"{one['agree']} of {one['lengths']}", ", ".join(one["found"])]
        for one in found["both_methods"]
    ]
    shrunk = [
        [one["from"], one["tokens"], f"`{one['to']}`", one["calls"], one["seconds"]]
        for one in found["shrunk"]
    ]
    return "\n\n".join(
        [
            line,
            "Induction and prefix tree, for lengths 1 to 12:",
            table(["mask", "lengths on which they agree", "smallest schedules"], methods),
            "`cachecheck shrink`, on the mask that numbers a chunk's rows from 0:",
            table(["schedule", "tokens", "becomes", "decoder calls", "seconds"], shrunk),
        ]
    )


def startup() -> str:
    """How long the help takes."""
    rows = [[f"`{name}`", one["best"], one["median"]] for name, one in load("startup.json").items()]
    return table(["command", "best, s", "median, s"], rows)


def page() -> str:
    """The whole page."""
    alarms = load("false_alarms.json")
    versions = load("hugging_face.json")["versions"]
    used = ", ".join(f"{name} {number}" for name, number in versions.items())
    return f"""# Evidence

What was measured, and the command that repeats it. This page is made by `python docs/evidence.py`
from the files beside it, and a test keeps it current. Times are of one machine with 2 cores and
whatever else it was doing.

## The frozen experiment

[frozen](frozen): `cachecheck run --out DIR`, audited by `cachecheck audit evidence/frozen` and by
the tests; pictures by `cachecheck figures`. Errors are largest absolute differences; the published
figures are 0.589838, 0.739833 and 0.648703 for `wrong_chunk_mask_error`.

{frozen()}

## No false alarm

`python -m benchmarks.false_alarms`: the chunk property on drawn right reference decoders, seed
{alarms["seed"]}: {alarms["passing"]:,} examples passed, {alarms["failing"]} failed; a further
{alarms["invalid"]:,} draws were given up by Hypothesis. That bounds the rate of false alarms below
{alarms["false_alarm_rate_below_at_95_percent"]:.0e} with 95% confidence.

## Every wrong mask, shrunk

`python -m benchmarks.shrinking`: the law `schedule` on the reference with a wrong mask, 40 seeds.
*Median* and *worst* count the cases drawn until it was found, of 200 allowed.

{shrinking()}

## Faults that fire late or rarely

`python -m benchmarks.late_faults`: a mask that is wrong under a condition alone, 20 seeds each,
within 200 cases.

{late()}

## The reference caches

`python -m benchmarks.reference_caches`: every kind of cache under every law that it unlocks, 10,000
programs and 300 cases of every other law; a number is of cases that held, and a dash stands for
what the kind does not offer. None was accused.

{caches()}

## Broken caches

`python -m benchmarks.broken_caches`: each fault of `cachecheck/faults`, 20 seeds, 200 cases
allowed. *Median* and *worst* count the cases drawn until it was caught. The certified minimum is
the first that fails of all programs in the order of size, on the same decoder; large enumerations
were done for fewer seeds.

{broken()}

## Certification, and long schedules

`python -m benchmarks.certifying`.

{certifying()}

## Hugging Face's own code

`python -m benchmarks.hugging_face`: tiny random models ({used}), as they are and with a mask that
numbers a chunk's rows from 0 patched in from outside.

{engines()}

## Start-up

`python -m benchmarks.startup`: 20 runs each, in turn.

{startup()}
"""


if __name__ == "__main__":
    write_whole(PAGE, page())
