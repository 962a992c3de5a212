"""The page about faults of our own: how soon they are caught, and what they shrink to."""

from __future__ import annotations

from benchmarks.kills import BREADTH, HIT_CASES
from benchmarks.pages import kills
from benchmarks.pages.measured import GENERATED, load, tables
from cachecheck.report.markdown import table

FORMS = ("always", "history of 1,000", "history of 1,000, as_float64")
"""The forms in which `benchmarks.faint` runs a fault."""


def wrong_masks_table() -> str:
    """A row for each wrong mask and kind of positions, with what it shrinks to."""
    rows = [
        [
            f"`{one['mask']}`",
            one["positions"],
            str(one["window"] or "-"),
            ", ".join(f"{verdict} ({count})" for verdict, count in one["verdicts"].items()),
            f"{one['examples_median']:g}",
            str(one["examples_worst"]),
        ]
        for one in load("shrinking.json")
    ]
    head = ["wrong mask", "positions", "window", "verdict and schedule (seeds)", "median", "worst"]
    return table(head, rows)


def late_table() -> str:
    """A row for each fault that fires late or rarely."""
    rows = [
        [
            one["fault"],
            f"{one['caught']} of {one['seeds']}",
            f"{one['examples_median']:g}",
            str(one["examples_worst"]),
            ", ".join(f"`{schedule}`" for schedule in one["schedules"]),
        ]
        for one in load("late_faults.json")
    ]
    return table(["wrong only at", "caught", "median", "worst", "smallest schedule"], rows)


def faint_table() -> str:
    """A row for each mistake that small weights and long histories make mild."""
    found = tables("faint.json")
    verdicts = {(one["fault"], one["form"]): one["verdict"] for one in found["searches"]}
    rows = [
        [
            f"`{margin['fault']}`",
            *(verdicts[margin["fault"], form] for form in FORMS),
            f"{margin['noise']:.1e}",
            "-" if margin["signal"] is None else f"{margin['signal']:.1e}",
        ]
        for margin in found["margins"]
    ]
    return table(["fault", *FORMS, "rounding", "mildest mistake"], rows)


def shrinking_summary() -> str:
    """The number of wrong masks on which every seed ended with the same schedule."""
    found = load("shrinking.json")
    same = sum(len(one["verdicts"]) == 1 for one in found)
    worst = max(one["examples_worst"] for one in found)
    return (
        f"{same} of {len(found)} pairs of a mask and a kind of positions gave one and the same "
        f"schedule on each of {found[0]['seeds']} seeds, after {worst} cases at most."
    )


def late_summary() -> str:
    """The number of searches that caught their late fault, and after how many cases."""
    found = load("late_faults.json")
    caught, seeds = sum(one["caught"] for one in found), sum(one["seeds"] for one in found)
    medians = [one["examples_median"] for one in found if one["examples_median"] is not None]
    return (
        f"{caught} of {seeds} searches for {len(found)} faults caught theirs within 200 cases, "
        f"with medians from {min(medians):g} to {max(medians):g}."
    )


def faint_summary() -> str:
    """Counts of the verdicts on mild mistakes."""
    found = tables("faint.json")["searches"]
    verdicts = [row["verdict"] for row in found]
    counts = ", ".join(f"{verdicts.count(one)} {one}" for one in sorted(set(verdicts)))
    return (
        f"{len({row['fault'] for row in found})} faults in {len(FORMS)} forms: {counts}; "
        f"{verdicts.count('HOLDS') or 'none'} passed over."
    )


def page() -> str:
    """The whole page."""
    return f"""# The catalogue, measured

{GENERATED}

How soon the faults of `cachecheck/faults` are caught, and what they shrink to. A *case* is one
schedule on one decoder; a search draws at most 200.

## The kill matrix

`python -m benchmarks.kill_matrix` writes `evidence/kill-matrix.csv`, a row for each fault and
precision. {kills.summary()}

### By law

Each law against the whole catalogue, {BREADTH} cases a fault:

{kills.laws_table()}

### By fault

*Hit* is on how many of {HIT_CASES} cases the fault changes any answer at all, to the bit. The
certified minimum is the first that fails of all schedules in the order of size, on the same
decoder. Its enumeration is bounded, so that large ones were certified on fewer seeds or none. Two
figures are for float64 and float32.

{kills.faults_table()}

### Where shrinking stops early

Shrunk schedules that are not the certified minimum (`evidence/kill-matrix-unequal.csv`). Shrinking
goes by single moves and the tokens at hand; these would take two moves at once, or another token
along with the move.

{kills.unequal_table()}

## Every wrong mask, shrunk

`python -m benchmarks.shrinking` writes `evidence/shrinking.json`: the law `schedule` on the
reference with a wrong mask, 40 seeds. *Median* and *worst* count the cases drawn until it was
found.

{wrong_masks_table()}

## Faults that fire late or rarely

`python -m benchmarks.late_faults` writes `evidence/late_faults.json`: a mask that is wrong under a
condition alone, 20 seeds each.

{late_table()}

## Small weights, long histories

`python -m benchmarks.faint` writes `evidence/faint.json`: mask and position faults with weights of
standard deviation 0.02 in float32 and sequences of 1,024 tokens and more; striking always, and only
once there are 1,000 tokens of history. Rounding and the mildest mistake are relative to an entry's
size, at 1,026 tokens of the first decoder.

{faint_table()}
"""
