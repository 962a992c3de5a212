"""Weights so small that mistakes look like rounding: none of these may be passed over.

python -m benchmarks.faint gives every mask and position fault of the plain reference weights of
standard deviation 0.02, float32, and sequences of up to 1,026 tokens: as it is, and striking only
once there are 1,000 tokens of history, where it is mildest. Each must be caught or INCONCLUSIVE,
never HOLDS (ERROR, for the one that leaves a row without any key, is caught). Where the decoder
offers ``as_float64()`` it is checked once more with that. Writes ``evidence/faint.json``.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.controls.numbers import reweighted
from benchmarks.tables import Row, rounded, write_report
from cachecheck.faults import FAULTS
from cachecheck.faults.late import Late
from cachecheck.judge.margin import measure
from cachecheck.laws import LAWS
from cachecheck.reference.stored import StoredDecoder
from cachecheck.reference.weights import Floats
from cachecheck.schedule import Case, Schedule
from cachecheck.schedule.tokens import tokens_of_seed
from cachecheck.search import search, smallest
from cachecheck.search.cases import Effort
from cachecheck.target import Target, as_target

OUT = Path(__file__).parent.parent / "evidence" / "faint.json"
SD, LENGTH, LATE = 0.02, 1026, 1000
SCHEDULES = ("1024+2", "1000+24+1", "1001+8+8+8")
"""Tried first on each of two decoders, so that a history of 1,000 is surely met."""
MECHANISMS = ("mask", "positions", "bias", "rotate")
NOT_PASSED_OVER = ("VIOLATED", "ERROR", "INCONCLUSIVE")


def faint(_name: str, array: Floats) -> Floats:
    """``array`` scaled to a standard deviation of 0.02."""
    return np.asarray(array * (array.dtype.type(SD) / array.std()))


def weakened(decoder: StoredDecoder[Any]) -> StoredDecoder[Any]:
    """``decoder`` over faint weights; their fingerprint stays, so that caches go round."""
    decoder.weights = decoder.storage.weights = reweighted(decoder.weights, faint)  # type: ignore[attr-defined]
    return decoder


class Twofold(Late):
    """A late fault that can be run in float64."""

    def __init__(self, name: str, seed: int, dtype: str) -> None:
        fault, self.key = FAULTS[name], (name, seed)
        right, wrong = fault.right(seed, dtype), fault.make(seed, dtype)  # type: ignore[arg-type]
        super().__init__(weakened(right), weakened(wrong), lambda at: at.past >= LATE)

    def as_float64(self) -> Twofold:
        """The same decoder with the same weights, not rounded to float32."""
        return type(self)(*self.key, "float64")


def targets(name: str) -> dict[str, Any]:
    """The fault in three forms, as factories."""
    fault = FAULTS[name]

    def without(seed: int) -> Any:
        late = Twofold(name, seed, "float32")
        return Late(late.right, late.wrong, late.condition)

    return {
        "always": lambda seed: weakened(fault.make(seed, "float32")),
        "history of 1,000": without,
        "history of 1,000, as_float64": lambda seed: Twofold(name, seed, "float32"),
    }


def cases(target: Target) -> tuple[tuple[int, Case], ...]:
    """The long cases to try on each decoder."""
    schedules = [Schedule.parse(text) for text in SCHEDULES]
    return tuple(
        (seed, Case(tokens_of_seed(seed, one.length, target.make(seed).vocab_size), one))
        for seed in range(2)
        for one in schedules
    )


def measured(name: str) -> tuple[list[Row], Row]:
    """The verdicts on one fault, and its decoder's margin; nothing is shrunk, which takes long."""
    vars(smallest)["shrink"] = lambda case, _fails, **_options: case
    searches = []
    for form, make in targets(name).items():
        target = as_target(make, name)
        effort = Effort(examples=2, max_length=LENGTH, known=cases(target))
        verdict, _ = search(LAWS[FAULTS[name].law], target, effort)
        row = {
            "fault": name,
            "form": form,
            "law": verdict.law,
            "verdict": verdict.answer.value,
            "examples": verdict.examples,
            "schedule": verdict.schedule,
            "difference": rounded(verdict.largest_difference),
            "message": verdict.message,
        }
        searches.append(row)
    margin = measure(as_target(targets(name)["always"], name).make(0), LENGTH)
    numbers = {key: rounded(getattr(margin, key)) for key in ("noise", "tolerance", "signal")}
    return searches, {"fault": name, **numbers, "probe": margin.probe, "length": margin.length}


def main() -> int:
    """Measure all; 1 if a fault is passed over."""
    names = [
        fault.id
        for fault in FAULTS.values()
        if fault.host == "copying" and fault.mechanism in MECHANISMS and not fault.when
        if fault.law == "schedule"
    ]
    searches: list[Row] = []
    margins = []
    with ProcessPoolExecutor(2) as pool:
        for number, (found, margin) in enumerate(pool.map(measured, names), start=1):
            searches += found
            margins.append(margin)
            answers = " | ".join(row["verdict"] for row in found)
            print(f"{number}/{len(names)} {margin['fault']:<36} {answers}", file=sys.stderr)
    write_report(OUT, {"searches": searches, "margins": margins})
    passed = [
        f"{row['fault']}, {row['form']}"
        for row in searches
        if row["verdict"] not in NOT_PASSED_OVER
    ]
    print("\n".join(["passed over:", *passed]) if passed else "none was passed over")
    return 1 if passed else 0


if __name__ == "__main__":
    sys.exit(main())
