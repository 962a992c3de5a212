"""Writes ``evidence/README.md`` from the measured files beside it: python docs/evidence.py."""

from __future__ import annotations

import json
import runpy
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


def controls() -> str:
    """Right decoders that look wrong, and how many cases accused none."""
    found = load("controls.json")
    totals = found["totals"]
    by_dtype = ", ".join(
        f"{count:,} in {name}" for name, count in sorted(totals["examples_by_dtype"].items())
    )
    rate = totals["false_alarm_rate_below_at_95_percent"]
    bound = "" if rate is None else f", which bounds the rate of false alarms below {rate:.1e}"
    line = (
        f"{totals['controls']} controls, {totals['examples']:,} cases ({by_dtype}): "
        f"{totals['accusations']} accusations{bound} with 95% confidence. "
        f"{totals['laws_in_doubt']} verdicts were INCONCLUSIVE:"
    )
    cases: dict[str, list[str]] = {}
    for one in found["results"]:
        cases.setdefault(one["control"], []).append(f"{one['examples']:,} {one['dtype']}")
    doubts = [
        [
            f"`{one['control']}`",
            one["dtype"],
            ", ".join(f"`{doubt['law']}`" for doubt in one["in_doubt"]),
            one["in_doubt"][0]["message"],
        ]
        for one in found["results"]
        if one["in_doubt"]
    ]
    counted = ", ".join(f"`{name}` {' and '.join(each)}" for name, each in cases.items())
    return "\n\n".join(
        [
            line,
            table(["control", "precision", "laws", "what is said"], doubts),
            f"Cases: {counted}.",
        ]
    )


def faint() -> str:
    """Mistakes that small weights and long histories make mild."""
    forms = ("always", "history of 1,000", "history of 1,000, as_float64")
    rows = []
    for one in load("faint.json"):
        margin = one["margin"]
        signal = "-" if margin["signal"] is None else f"{margin['signal']:.1e}"
        verdicts = [one[form]["verdict"] for form in forms]
        rows.append([f"`{one['id']}`", *verdicts, f"{margin['noise']:.1e}", signal])
    return table(["fault", *forms, "rounding", "mildest mistake"], rows)


def other(name: str) -> Any:
    """What a module beside this one has."""
    return runpy.run_path(str(Path(__file__).parent / name))


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
    kills, peers = other("kill_tables.py"), other("peers_table.py")
    found = other("findings.py")
    plainly = other("../benchmarks/plainly/answers.py")
    checks = load("plainly.json")["rows"]
    old = other("../benchmarks/history/table.py")["table"](load("history.json"))
    planted, faults = other("../benchmarks/engine_faults/table.py"), load("engine-faults.json")
    missed = ", ".join(
        f"`{name}` ({share:.0%})"
        for name, share in peers["missed_by_ours"](peers["load"]()).items()
    )
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

## The kill matrix

`python -m benchmarks.kill_matrix` (files in [kill-matrix](kill-matrix), one a fault): the catalogue
of `cachecheck/faults`. *Hit* is on how many of 20 cases the fault changes any answer at all, to the
bit. The certified minimum is the first that fails of all schedules in the order of size, on the
same decoder; a fault was given 6 seconds of enumeration, so that large ones were certified on fewer
seeds or none. Two figures are for float64 and float32.

{kills["summary"]()}

Each law against the whole catalogue, 8 cases a fault:

{kills["laws_table"]()}

{kills["faults_table"]()}

Shrunk schedules that are not the certified minimum. Shrinking goes by single moves and the tokens
at hand; these would take two moves at once, or another token along with the move.

{kills["unequal_table"]()}

## Look-alikes that are right

`python -m benchmarks.controls` on `benchmarks/controls`.

{controls()}

## Small weights, long histories

`python -m benchmarks.faint`: mask and position faults with weights of standard deviation 0.02 in
float32 and sequences of 1,024 tokens and more; striking always, and only once there are 1,000
tokens of history. Rounding and the mildest mistake are relative to an entry's size, at 1,026 tokens
of the first decoder.

{faint()}

## Side by side with other test designs

`python -m benchmarks.peers`. {peers["headline"]()}

{peers["peers_table"]()}

Seen by ours alone: {", ".join(f"`{name}`" for name in peers["only_ours"](peers["load"]()))}.

Not seen by ours on every seed within so many calls: {missed}.

## Certification, and long schedules

`python -m benchmarks.certifying`.

{certifying()}

## Hugging Face's own code

`python -m benchmarks.hugging_face`: tiny random models ({used}), as they are and with a mask that
numbers a chunk's rows from 0 patched in from outside.

{engines()}

## The zoo

`cachecheck zoo transformers --out evidence/zoo`. {found["zoo_summary"]()} The whole matrix, with
every refusal and reason: [zoo/transformers.md](zoo/transformers.md).

## How much the zoo sees

`python -m benchmarks.engine_faults`: deliberate faults, each put into one place of the installed
library from outside, under the survey that the zoo is: its variants, its laws, {faults["examples"]}
cases for each. A fault counts as caught by the first cell that fails and does not fail without it;
schedules are the smallest over the architectures. *No effect*: rows of drawn cases are the same
with the fault and without, to the bit or within the tolerance. What the survey missed is given the
{faults["many"]} cases of `cachecheck fuzz`.

{planted["summary"](faults)}

{planted["table"](faults)}

Why it misses what it misses:

{planted["missed"](faults)}

## Findings in current releases

Each has a page with the verdict, the smallest case, the suspected cause and how it was judged, and
`reproduction.py`, which does not use cachecheck and exits 1 while it shows.

{found["findings_table"]()}

## Accusations, made again in plain calls

`python -m benchmarks.plainly`: what the zoo calls VIOLATED (not what raises, and not what follows
from a broken law and was not searched) is tried by `benchmarks/plainly/plain.py`,
which knows transformers alone: weights, tokens, calls and comparisons are its own, and batches go
through `generate`. It must differ by more than the cell's tolerance; what holds in the zoo is tried
alike and must not. {plainly["summary"](checks)}

{table(["entry of the ledger", "architectures", "shown", "checks"], plainly["by_finding"](checks))}

## Old bugs found again

`python -m benchmarks.history`: an environment with a wrong and one with a right release for each
fault, 200 cases asked for. Seconds are of the search with its shrinking.

{old}
## Start-up

`python -m benchmarks.startup`: 20 runs each, in turn.

{startup()}
"""


if __name__ == "__main__":
    write_whole(PAGE, page())
