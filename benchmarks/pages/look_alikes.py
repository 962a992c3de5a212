"""The page about right decoders: that none of them is accused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.controls import CONTROLS
from benchmarks.controls.results import Result, read_results
from benchmarks.pages.measured import EVIDENCE, GENERATED, load, tables
from benchmarks.tables import Row
from cachecheck.report.markdown import table


def controls_table() -> str:
    """A row for each control: what it looks like, and why it is right."""
    rows = [[f"`{one.id}`", one.looks_like, one.why_right] for one in CONTROLS.values()]
    return table(("control", "looks like", "why it is right"), rows)


def controls_summary() -> str:
    """The figures of all controls in a sentence or two."""
    totals = tables("controls.json")["totals"]
    by_dtype = ", ".join(
        f"{count:,} in {name}" for name, count in totals["examples_by_dtype"].items()
    )
    rate = totals["false_alarm_rate_below_at_95_percent"]
    bound = "" if rate is None else f", which bounds the rate of false alarms below {rate:.1e}"
    return (
        f"{totals['controls']} controls, {totals['examples']:,} cases ({by_dtype}): "
        f"{totals['accusations']} accusations{bound} with 95% confidence. "
        f"{totals['laws_inconclusive']} verdicts were INCONCLUSIVE."
    )


def cases_table() -> str:
    """A row for each control: cases in each precision, and laws that it does not offer."""
    results: dict[str, list[Result]] = {}
    for one in read_results(EVIDENCE / "controls.json"):
        results.setdefault(one.control, []).append(one)
    rows = [
        [
            f"`{name}`",
            ", ".join(f"{one.examples:,} in {one.dtype}" for one in each),
            str(sum(count > 0 for count in each[0].cases.values())),
        ]
        for name, each in results.items()
    ]
    return table(["control", "cases", "laws"], rows)


def doubts_table() -> str:
    """A row for each control and precision with INCONCLUSIVE laws, and what is said of one."""
    doubts: dict[tuple[str, str], list[Row]] = {}
    for row in tables("controls.json")["inconclusive"]:
        doubts.setdefault((row["control"], row["dtype"]), []).append(row)
    rows = [
        [
            f"`{control}`",
            dtype,
            ", ".join(f"`{row['law']}`" for row in each),
            each[0]["message"],
        ]
        for (control, dtype), each in doubts.items()
    ]
    return table(["control", "precision", "laws", "what is said of the first"], rows)


def false_alarms_summary() -> str:
    """The figures of the long profile."""
    alarms = load("false_alarms.json")
    rate = alarms["false_alarm_rate_below_at_95_percent"]
    return (
        f"{alarms['passing']:,} examples passed, {alarms['failing']} failed; a further "
        f"{alarms['invalid']:,} draws were given up by Hypothesis. That bounds the rate of false "
        f"alarms below {rate:.0e} with 95% confidence."
    )


def caches_summary() -> str:
    """The figures of all reference caches in a sentence."""
    results = tables("reference_caches.json")["results"]
    examples = [one["examples"] for one in results if one["verdict"] == "HOLDS"]
    accused = [one for one in results if one["verdict"] not in ("HOLDS", "UNSUPPORTED")]
    kinds = {one["cache"] for one in results}
    return (
        f"{len(kinds)} kinds of cache, {sum(examples):,} cases in {len(examples)} searches: "
        f"{len(accused) or 'none'} accused or in doubt."
    )


def caches_table() -> str:
    """A row for each kind of reference cache: cases that held, by law."""
    results = tables("reference_caches.json")["results"]
    laws = list(dict.fromkeys(one["law"] for one in results))
    rows = []
    for name in dict.fromkeys(one["cache"] for one in results):
        by_law = {one["law"]: one for one in results if one["cache"] == name}
        calls = sum(one["calls"] for one in by_law.values())
        rows.append([f"`{name}`", *_held([by_law[law] for law in laws]), f"{calls:,}"])
    return table(["cache", *laws, "calls"], rows)


def _held(results: Sequence[Any]) -> list[str]:
    """Cases that held; a dash for what is not offered, the verdict in words for anything else."""
    shown = {"UNSUPPORTED": "-"}
    return [
        f"{one['examples']:,}"
        if one["verdict"] == "HOLDS"
        else shown.get(one["verdict"], one["verdict"].lower())
        for one in results
    ]


def page() -> str:
    """The whole page."""
    return f"""# Look-alikes that are right

{GENERATED}

No law may accuse a decoder that is right, however odd it looks.

## What they look like

Each control in `benchmarks/controls` resembles a mistake and is none.

{controls_table()}

## What was measured

`python -m benchmarks.controls` writes `evidence/controls.json`: every control in every precision,
under each law that it offers anything for. {controls_summary()}

{doubts_table()}

The cases of each control, and the laws that they are spread over:

{cases_table()}

## The reference caches

`python -m benchmarks.reference_caches` writes `evidence/reference_caches.json`: every kind of cache
under every law that it unlocks, 10,000 programs and 300 cases of every other law.
{caches_summary()} A number is of cases that held, those left out that the cache refused; a dash
stands for what the kind does not offer.

{caches_table()}

## A hundred thousand examples of one property

`python -m benchmarks.false_alarms` writes `evidence/false_alarms.json`: the chunk property on drawn
right reference decoders. {false_alarms_summary()}
"""
