"""One fault of the kill matrix: where it shows, whether it is caught, shrunk to what.

All limits are counts and none is of time, so that the same code measures the same anywhere.
"""

from __future__ import annotations

import contextlib
from functools import partial
from typing import Any, get_args

import numpy as np

from benchmarks.minima import CERTIFY_CALLS, Budget, certified, comparison
from cachecheck.errors import CachecheckError
from cachecheck.faults import FAULTS, Fault
from cachecheck.guard import Guarded
from cachecheck.laws import LAWS, Law
from cachecheck.reference.config import Precision
from cachecheck.schedule import Case
from cachecheck.search import search
from cachecheck.search.cases import Effort, numbered_cases
from cachecheck.target import Target, as_target
from cachecheck.verdict import Answer, Finding, Violation

HIT_CASES = 20
"""Cases on which a fault and its right decoder are compared answer by answer."""

BREADTH = 8
"""Cases of every law in the search with all laws."""


def _always_broken(_decoder: Guarded, _case: Case) -> Finding:
    broken = Violation("canary", "canary", 0, 1.0, 0.0, "this law is always broken")
    return Finding(1.0, 0.0, broken)


CANARY = Law(
    id="canary",
    statement="Nothing satisfies this law.",
    reason="Whatever runs laws must report one that is broken.",
    not_claimed="Anything.",
    check=_always_broken,
)
"""Broken on every case: it shows that the search reports what it finds."""


class Recorded:
    """A decoder whose every answer is noted, as far as it is made of arrays."""

    def __init__(self, decoder: Any) -> None:
        vars(self).update(decoder=decoder, answers=[])

    def __getattr__(self, name: str) -> Any:
        member = getattr(self.decoder, name)
        if not callable(member):
            return member

        def call(*arguments: Any) -> Any:
            try:
                answer = member(*arguments)
            except Exception as error:
                self.answers.append((name, type(error).__name__))
                raise
            self.answers.append((name, _shown(answer)))
            return answer

        return call


def _shown(answer: Any) -> Any:
    """Arrays and numbers to the bit, containers of them, and nothing of opaque caches."""
    if isinstance(answer, np.ndarray):
        return answer.shape, answer.dtype.name, answer.tobytes()
    if isinstance(answer, list | tuple):
        return tuple(map(_shown, answer))
    if isinstance(answer, dict):
        return tuple((name, _shown(value)) for name, value in answer.items())
    return answer if isinstance(answer, int | float) else None


def hits(fault: Fault, law: Law, dtype: Precision) -> int:
    """Count the drawn cases, of `HIT_CASES`, in which the fault changes an answer to the law."""
    target = as_target(partial(fault.make, dtype=dtype), fault.id)
    seeds = range(target.seeds)
    numbered = numbered_cases(target.make, seeds, law, Effort())
    count = 0
    for number in range(HIT_CASES):
        drawn = numbered(number)
        count += _answers(fault.make(drawn.decoder_seed, dtype), law, drawn.case) != _answers(
            fault.right(drawn.decoder_seed, dtype), law, drawn.case
        )
    return count


def _answers(decoder: Any, law: Law, case: Case) -> list[Any]:
    recorded = Recorded(decoder)
    with contextlib.suppress(CachecheckError):
        guarded = Guarded(recorded)
        if law.lacking(guarded) is None:
            law.check(guarded, case)
    return list(recorded.answers)


def runs(fault: Fault, dtype: Precision, seeds: int) -> list[dict[str, Any]]:
    """Search with the fault's own law, once for each seed, and certify what is found."""
    target = as_target(partial(fault.make, dtype=dtype), fault.id)
    found = []
    minima: dict[tuple[int, str], str | None] = {}
    budget = Budget(CERTIFY_CALLS)
    for number in range(seeds):
        verdict, _ = search(LAWS[fault.law], target, Effort(seed=1000 * number))
        run: dict[str, Any] = {
            "seed": 1000 * number,
            "verdict": verdict.answer.value,
            "examples": verdict.examples,
            "schedule": verdict.schedule,
            "decoder_seed": verdict.decoder_seed,
        }
        if verdict.answer is Answer.VIOLATED and verdict.decoder_seed is not None:
            shrunk = verdict.schedule or ""
            key = (verdict.decoder_seed, shrunk)
            if key not in minima and budget.left:
                minima[key] = certified(fault, *key, verdict.tokens or (), budget)
            minimum = minima.get(key)
            run |= {"certified": minimum, "agrees": comparison(shrunk, minimum)}
        found.append(run)
    return found


def verdict_of(law: Law, target: Target, examples: int) -> dict[str, Any]:
    """Search once with any law on any fault: one cell of the broad matrix."""
    verdict, _ = search(law, target, Effort(examples=examples))
    return {
        "verdict": verdict.answer.value,
        "examples": verdict.examples,
        "schedule": verdict.schedule,
    }


def measure(name: str, seeds: int) -> dict[str, Any]:
    """Measure everything about one fault, in each precision."""
    fault = FAULTS[name]
    result: dict[str, Any] = {"id": fault.id, "host": fault.host, "law": fault.law, "dtypes": {}}
    for dtype in get_args(Precision):
        target = as_target(partial(fault.make, dtype=dtype), fault.id)
        result["dtypes"][dtype] = {
            "hit": hits(fault, LAWS[fault.law], dtype),
            "of": HIT_CASES,
            "canary": verdict_of(CANARY, target, 1)["verdict"],
            "laws": {law: verdict_of(LAWS[law], target, BREADTH) for law in LAWS},
            "runs": runs(fault, dtype, seeds),
        }
    return result
