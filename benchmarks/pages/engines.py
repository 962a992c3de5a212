"""The page about other people's decoders."""

from __future__ import annotations

from benchmarks.engine_faults import table as planted
from benchmarks.history.rows import ROWS
from benchmarks.history.table import table as history_table
from benchmarks.pages.measured import GENERATED, load, tables
from benchmarks.plainly import answers
from cachecheck.report.markdown import table


def hugging_face_table() -> str:
    """A row for each run on Hugging Face's own code, right and patched."""
    rows = []
    for run in load("hugging_face.json")["runs"]:
        verdicts = ", ".join(f"{one['law']} {one['verdict']}" for one in run["verdicts"])
        broken = [one["schedule"] for one in run["verdicts"] if one["verdict"] == "VIOLATED"]
        shown = ", ".join(f"`{schedule}`" for schedule in broken) or "-"
        rows.append([f"`{run['target']}`", verdicts, shown, str(run["exit_code"])])
    return table(["target", "verdicts", "smallest schedules", "exit code"], rows)


def versions() -> str:
    """The libraries that the four runs were made with."""
    used = load("hugging_face.json")["versions"]
    return ", ".join(f"{name} {number}" for name, number in used.items())


def hugging_face_summary() -> str:
    """The exit codes of the four runs."""
    codes = {run["target"]: run["exit_code"] for run in load("hugging_face.json")["runs"]}
    shown = ", ".join(f"`{name}` {code}" for name, code in codes.items())
    return f"Exit codes, of which 1 is VIOLATED: {shown}."


def history_summary() -> str:
    """The number of old bugs, and of releases that fail or hold as they should."""
    rows = load("history.json")["rows"]
    wrong = [run for row in rows for run in row["runs"] if run["side"] == "wrong"]
    right = [run for row in rows for run in row["runs"] if run["side"] == "right"]
    found = sum(run["verdict"] in ("VIOLATED", "ERROR") for run in wrong)
    holds = sum(run["verdict"] == "HOLDS" for run in right)
    return (
        f"{len({row.fault for row in ROWS.values()})} faults: {found} of {len(wrong)} wrong "
        f"releases fail and {holds} of {len(right)} right ones hold."
    )


def page() -> str:
    """The whole page."""
    faults, checks = tables("engine-faults.json"), tables("plainly.json")["rows"]
    by_finding = table(
        ["entry of the ledger", "architectures", "shown", "checks"], answers.by_finding(checks)
    )
    return f"""# Engines, measured

{GENERATED}

How much the survey of an engine sees, and how its accusations were tried again.

## How much the zoo sees

`python -m benchmarks.engine_faults` writes `evidence/engine-faults.json`: deliberate faults, each
put into one place of the installed library from outside, under the survey that the zoo is: its
variants, its laws, {faults["examples"]} cases for each. A fault counts as caught by the first cell
that fails and does not fail without it; schedules are the smallest over the architectures. *No
effect*: rows of drawn cases are the same with the fault and without, to the bit or within the
tolerance. What the survey missed is given the {faults["many"]} cases of `cachecheck fuzz`.

{planted.summary(faults)}

{planted.table(faults)}

Why it misses what it misses:

{planted.missed(faults)}

## Accusations, made again in plain calls

`python -m benchmarks.plainly` writes `evidence/plainly.json`: what the zoo calls VIOLATED (not what
raises, and not what follows from a broken law and was not searched) is tried by
`benchmarks/plainly/plain.py`, which knows transformers alone: weights, tokens, calls and
comparisons are its own, and batches go through `generate`. It must differ by more than the cell's
tolerance; what holds in the zoo is tried alike and must not. {answers.summary(checks)}

{by_finding}

## Hugging Face's own code

`python -m benchmarks.hugging_face` writes `evidence/hugging_face.json`: tiny random models
({versions()}), as they are and with a mask that numbers a chunk's rows from 0 patched in from
outside.

{hugging_face_table()}

## Old bugs found again

`python -m benchmarks.history` writes `evidence/history.json`: an environment with a wrong and one
with a right release for each fault, 200 cases asked for. Seconds are of the search with its
shrinking.

{history_table(load("history.json")).rstrip()}
"""
