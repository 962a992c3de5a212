"""The page of figures that are about no fault: the experiment, certification, start-up."""

from __future__ import annotations

from benchmarks.pages.measured import GENERATED, load
from cachecheck.report.markdown import table


def frozen_table() -> str:
    """The nine errors and six counts of the published experiment, a column for each seed."""
    results = load("frozen/results.json")
    names = [name for name in results[0] if name != "seed"]
    rows = []
    for name in sorted(names, key=lambda name: not name.endswith(("error", "change"))):
        values = [result[name] for result in results]
        small = all(isinstance(value, float) and value < 1e-9 for value in values)
        rows.append([f"`{name}`", *(_number(value, small=small) for value in values)])
    return table(["", *(f"seed {result['seed']}" for result in results)], rows)


def _number(value: float, *, small: bool) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.2e}" if small else f"{value:.6f}"


def frozen_summary() -> str:
    """The published figure and the largest error of what is right."""
    results = load("frozen/results.json")
    wrong = ", ".join(f"{result['wrong_chunk_mask_error']:.6f}" for result in results)
    right = ("cache_error", "chunk_error", "prefix_error", "sliding_error")
    largest = max(result[name] for result in results for name in right)
    return (
        f"Rows of right caches are at most {largest:.1e} from the full pass; with the mask that "
        f"forgets its offset (`wrong_chunk_mask_error`) they are off by {wrong}."
    )


def certifying_summary() -> str:
    """All partitions of the longest sequence that is certified."""
    whole = load("certifying.json")["full_length"]
    return (
        f"All {whole['partitions']:,} partitions of {whole['length']} tokens of the reference: "
        f"{whole['answer']} by {whole['method']}, in {whole['seconds_median']} s "
        f"(median of 5; best {whole['seconds_best']} s); "
        f"largest difference {whole['difference']:.1e}, over a token a call {whole['drift']:.1e}."
    )


def methods_table() -> str:
    """A row for each mask: on how many lengths both methods of certification agree."""
    rows = [
        [f"`{one['mask']}`", f"{one['agree']} of {one['lengths']}", ", ".join(one["found"])]
        for one in load("certifying.json")["both_methods"]
    ]
    return table(["mask", "lengths on which they agree", "smallest schedules"], rows)


def shrunk_table() -> str:
    """A row for each long schedule that was made small."""
    rows = [
        [one["from"], str(one["tokens"]), f"`{one['to']}`", str(one["calls"]), str(one["seconds"])]
        for one in load("certifying.json")["shrunk"]
    ]
    return table(["schedule", "tokens", "becomes", "decoder calls", "seconds"], rows)


def startup_table() -> str:
    """A row for each command: seconds until its help is there."""
    rows = [
        [f"`{name}`", str(one["best"]), str(one["median"])]
        for name, one in load("startup.json").items()
    ]
    return table(["command", "best, s", "median, s"], rows)


def shrunk_summary() -> str:
    """The schedules that long ones become, and the calls it takes."""
    found = load("certifying.json")["shrunk"]
    smallest = ", ".join(sorted({one["to"] for one in found}))
    most = max(one["calls"] for one in found)
    return (
        f"{len(found)} failing schedules of {found[0]['tokens']:,} tokens became `{smallest}` in "
        f"at most {most} decoder calls."
    )


def startup_summary() -> str:
    """The median of each command."""
    found = load("startup.json")
    shown = ", ".join(f"`{name}` {one['median']} s" for name, one in found.items())
    return f"Medians: {shown}."


def page() -> str:
    """The whole page."""
    return f"""# Further figures

{GENERATED}

Times are of one machine with 2 cores and whatever else it was doing.

## The frozen experiment

`cachecheck run --out DIR` repeats it; `evidence/frozen` has the committed run, audited by
`cachecheck audit evidence/frozen` and by the tests. Errors are largest absolute differences.
{frozen_summary()}

{frozen_table()}

## Certification, and long schedules

`python -m benchmarks.certifying` writes `evidence/certifying.json`. {certifying_summary()}

Induction and prefix tree, for lengths 1 to 12:

{methods_table()}

`cachecheck shrink`, on the mask that numbers a chunk's rows from 0:

{shrunk_table()}

## Start-up

`python -m benchmarks.startup` writes `evidence/startup.json`: 20 runs each, in turn.

{startup_table()}
"""
