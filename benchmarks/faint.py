"""Weights so small that mistakes look like rounding: is any of them passed over?

python -m benchmarks.faint gives every mask and position fault of the plain reference weights of
standard deviation 0.02, float32, and sequences of up to 1,026 tokens: as it is, and striking only
once there are 1,000 tokens of history, where it is mildest. Each must be caught or INCONCLUSIVE,
never HOLDS (ERROR, for the one that leaves a row without any key, is caught). Where the decoder
offers ``as_float64()`` it is checked once more with that. Writes ``evidence/faint.json``.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.controls.numbers import reweighted
from cachecheck.faults import FAULTS
from cachecheck.faults.late import Late
from cachecheck.files import write_whole
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


def measured(name: str) -> dict[str, Any]:
    """The verdicts on one fault, and its decoder's margin; nothing is shrunk, which takes long."""
    vars(smallest)["shrink"] = lambda case, _fails, **_options: case
    found: dict[str, Any] = {"id": name, "law": FAULTS[name].law}
    for form, make in targets(name).items():
        target = as_target(make, name)
        effort = Effort(examples=2, max_length=LENGTH, known=cases(target))
        verdict, _ = search(LAWS[FAULTS[name].law], target, effort)
        found[form] = {
            "verdict": verdict.answer.value,
            "examples": verdict.examples,
            "schedule": verdict.schedule,
            "difference": verdict.largest_difference,
            "message": verdict.message,
        }
    margin = measure(as_target(targets(name)["always"], name).make(0), LENGTH)
    found["margin"] = vars(margin)
    return found


def main() -> int:
    """Measure all; 1 if a fault is passed over."""
    names = [
        fault.id
        for fault in FAULTS.values()
        if fault.host == "copying" and fault.mechanism in MECHANISMS and not fault.when
        if fault.law == "schedule"
    ]
    results = []
    with ProcessPoolExecutor(2) as pool:
        for number, one in enumerate(pool.map(measured, names), start=1):
            results.append(one)
            answers = [one[form]["verdict"] for form in targets(one["id"])]
            print(f"{number}/{len(names)} {one['id']:<36} {' | '.join(answers)}", file=sys.stderr)
    write_whole(OUT, json.dumps(results, indent=1) + "\n")
    passed = [
        f"{one['id']}, {form}"
        for one in results
        for form in targets(one["id"])
        if one[form]["verdict"] not in ("VIOLATED", "ERROR", "INCONCLUSIVE")
    ]
    print("\n".join(["passed over:", *passed]) if passed else "none was passed over")
    return 1 if passed else 0


if __name__ == "__main__":
    sys.exit(main())
