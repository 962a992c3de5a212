"""Kills per decoder call: what a case is worth, by how it was drawn.

python -m benchmarks.kills_per_call searches every fault with its own law in both precisions, over
20 seeds, and counts what the decoder is asked until the first violation; nothing is shrunk. Three
ways to draw are compared: the one of earlier versions, measured before it went (Hypothesis' loop
drew one number, and a generator of our own made the case from it), the loop of the search, and
Hypothesis' own loop over the same strategy. Writes ``evidence/kills-per-call.json``.

The old search then spent a quarter more: Hypothesis' loop tries a failing case again.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, get_args
from unittest.mock import patch

import hypothesis
from hypothesis import HealthCheck, Phase, settings

from benchmarks.tables import Row, read_report, write_report
from cachecheck.faults import FAULTS, Fault
from cachecheck.guard.core import GuardedCore
from cachecheck.judge import Tally, Trial
from cachecheck.laws import LAWS
from cachecheck.reference.config import Precision
from cachecheck.search import search
from cachecheck.search.cases import Effort, trials
from cachecheck.search.loop import Search
from cachecheck.target import as_target
from cachecheck.verdict import Answer

SEEDS = 20
OUT = Path(__file__).parent.parent / "evidence" / "kills-per-call.json"
PRECISIONS: tuple[Precision, ...] = get_args(Precision)
BEFORE, OURS, HYPOTHESIS = (
    "before: one number drawn by Hypothesis' loop, a generator of ours makes the case",
    "now: strategies.cases, in our own loop",
    "strategies.cases, in Hypothesis' own loop",
)

_CALL: Callable[..., Any] = vars(GuardedCore)["_call"]


class FoundError(BaseException):
    """Ends a search at its first violation; neither we nor Hypothesis catch it."""


class Meter:
    """Counts what decoders are asked until a search has found a violation."""

    def __init__(self) -> None:
        self.calls = 0
        self.tally: Tally | None = None

    def note(self, tally: Tally) -> None:
        """The search's own tally, known from its first case on."""
        self.tally = tally

    @contextlib.contextmanager
    def counting(self) -> Iterator[None]:
        """Count every call of a decoder."""

        def call(core: GuardedCore, name: str, *arguments: Any) -> Any:
            if self.tally is not None and self.tally.broken is not None:
                raise FoundError
            self.calls += 1
            return _CALL(core, name, *arguments)

        with patch.object(GuardedCore, "_call", call):
            yield


class _EnoughError(Exception):
    """Ends Hypothesis' loop."""


def hypothesis_loop(own: Search) -> None:
    """What the search does with drawn cases, in Hypothesis' loop."""
    strategy = trials(own.make, own.decoder_seeds, own.law, own.effort.max_length)

    @hypothesis.seed(own.effort.seed)
    @settings(
        max_examples=own.effort.examples,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @hypothesis.given(strategy)
    def attempt(trial: Trial) -> None:
        if own.enough(own.tally.tried_cases):
            raise _EnoughError
        own.attempt(trial)

    with contextlib.suppress(_EnoughError):
        attempt()


def measured(fault: Fault, precision: Precision, seed: int) -> tuple[bool, int, int]:
    """Whether a search finds the fault, the cases it took, and the calls."""
    target = as_target(partial(fault.make, dtype=precision), fault.id)
    meter = Meter()
    with meter.counting():
        try:
            verdict, _ = search(LAWS[fault.law], target, Effort(seed=seed), on_case=meter.note)
        except FoundError:
            assert meter.tally is not None  # noqa: S101 - it told of the violation
            return True, meter.tally.examples, meter.calls
    return verdict.answer is Answer.VIOLATED, verdict.examples, meter.calls


def row(name: str, seeds: int, way: str) -> Row:
    """One fault: for each precision, on how many seeds it is caught, cases and calls."""
    fault = FAULTS[name]
    found: Row = {"fault": name, "law": fault.law}
    try_drawn = hypothesis_loop if way == HYPOTHESIS else Search.try_drawn
    with patch.object(Search, "try_drawn", try_drawn):
        for precision in PRECISIONS:
            searches = [measured(fault, precision, 1000 * seed) for seed in range(seeds)]
            found |= summary(precision, searches)
    return found


def summary(precision: str, searches: Sequence[tuple[bool, int, int]]) -> Row:
    """The columns of a precision; cases of the searches that found it, calls of all of them."""
    cases = [count for caught, count, _ in searches if caught]
    columns = {
        "caught": len(cases),
        "median": statistics.median(cases) if cases else None,
        "worst": max(cases, default=None),
        "cases": sum(count for _, count, _ in searches),
        "calls": sum(calls for _, _, calls in searches),
    }
    return {f"{name} {precision}": value for name, value in columns.items()}


def total(way: str, rows: Sequence[Row], seeds: int) -> Row:
    """All faults together."""

    def added(column: str) -> int:
        return sum(one[f"{column} {precision}"] for one in rows for precision in PRECISIONS)

    caught, calls = added("caught"), added("calls")
    return {
        "drawn": way,
        "searches": seeds * len(PRECISIONS) * len(rows),
        "caught": caught,
        "cases": added("cases"),
        "calls": calls,
        "kills per 1,000 calls": round(1000 * caught / calls, 2),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure both loops, write the file; 1 if a fault escapes ours."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="searches a fault and precision")
    parser.add_argument("-n", dest="workers", type=int, default=2, help="processes")
    parsed = parser.parse_args(arguments)
    ways = {BEFORE: read_report(OUT)["before"]}
    with ProcessPoolExecutor(parsed.workers) as pool:
        for way in (OURS, HYPOTHESIS):
            one = partial(row, seeds=parsed.seeds, way=way)
            ways[way] = list(pool.map(one, FAULTS))
            print(total(way, ways[way], parsed.seeds), file=sys.stderr, flush=True)
    totals = [
        total(way, rows, SEEDS if way == BEFORE else parsed.seeds) for way, rows in ways.items()
    ]
    report = {"seeds": parsed.seeds, "totals": totals}
    write_report(
        OUT, report | {"before": ways[BEFORE], "after": ways[OURS], "hypothesis": ways[HYPOTHESIS]}
    )
    return 1 if totals[1]["caught"] < totals[1]["searches"] else 0


if __name__ == "__main__":
    sys.exit(main())
