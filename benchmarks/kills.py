"""What the kill matrix measures of one fault: hit, caught, shrunk, certified."""

from __future__ import annotations

import contextlib
import signal
import statistics
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from cachecheck.certify import smallest_failing
from cachecheck.errors import CachecheckError
from cachecheck.faults import Fault
from cachecheck.guard import Guarded
from cachecheck.laws import LAWS, Law
from cachecheck.reference.config import Precision
from cachecheck.schedule import Case, Schedule
from cachecheck.schedule.steps import key_of
from cachecheck.search import search
from cachecheck.search.cases import Effort, numbered_cases
from cachecheck.target import Target, as_target
from cachecheck.verdict import Answer, Finding, Violation

HIT_CASES = 20
"""Cases on which a fault and its right decoder are compared answer by answer."""


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
        self.__dict__.update(decoder=decoder, answers=[])

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
    """On how many of `HIT_CASES` drawn cases the fault changes any answer that the law asks for."""
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


@contextlib.contextmanager
def within(seconds: int) -> Iterator[None]:
    """Raise TimeoutError when the block takes longer. In a main thread alone."""

    def ring(_number: int, _frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def certified(
    fault: Fault, seed: int, shrunk: str, tokens: tuple[int, ...], patience: int
) -> str | None:
    """The smallest failing schedule by enumeration; None where that takes too long.

    Over tokens that differ, and where those do not show so small a failure, over the shrunk ones.
    """
    decoder, law = as_target(fault.make, fault.id).make(seed), LAWS[fault.law]
    try:
        with within(patience):
            found = smallest_failing(decoder, law, shrunk)
            if found is None or _size(shrunk) < _size(found):
                found = smallest_failing(decoder, law, shrunk, ids=tokens)
            return found
    except (TimeoutError, CachecheckError):
        return None


def compared(shrunk: str, minimum: str | None) -> str | None:
    """Whether the shrunk schedule is the certified one."""
    if minimum is None:
        return None
    if shrunk == minimum:
        return "equal"
    return "smaller" if _size(shrunk) < _size(minimum) else "larger"


def _size(text: str) -> tuple[int, int, list[tuple[int, ...]]]:
    steps = Schedule.parse(text).steps
    return Schedule.parse(text).length, len(steps), [key_of(step) for step in steps]


def runs(fault: Fault, dtype: Precision, seeds: int, patience: int) -> list[dict[str, Any]]:
    """Searches with the fault's own law, one a seed, and what each ended with."""
    target = as_target(partial(fault.make, dtype=dtype), fault.id)
    found = []
    minima: dict[tuple[int, str], str | None] = {}
    spent = 0.0  # seconds, on certification
    for number in range(seeds):
        verdict, _ = search(LAWS[fault.law], target, Effort(seed=1000 * number))
        run: dict[str, Any] = {
            "seed": 1000 * number,
            "verdict": verdict.answer.value,
            "examples": verdict.examples,
            "seconds": round(verdict.seconds, 3),
            "schedule": verdict.schedule,
            "decoder_seed": verdict.decoder_seed,
        }
        if verdict.answer is Answer.VIOLATED and verdict.decoder_seed is not None:
            shrunk = verdict.schedule or ""
            key = (verdict.decoder_seed, shrunk)
            if key not in minima and spent < patience:
                started = time.perf_counter()
                minima[key] = certified(fault, *key, verdict.tokens or (), patience)
                spent += time.perf_counter() - started
            minimum = minima.get(key)
            run |= {"certified": minimum, "agrees": compared(shrunk, minimum)}
        found.append(run)
    return found


def summary(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts, medians and worst cases of some runs."""
    caught = [run for run in found if run["verdict"] == "VIOLATED"]
    agrees = [run["agrees"] for run in caught if run.get("agrees")]
    examples = [run["examples"] for run in caught]
    seconds = [run["seconds"] for run in caught]
    return {
        "seeds": len(found),
        "caught": len(caught),
        "examples_median": statistics.median(examples) if examples else None,
        "examples_worst": max(examples, default=None),
        "seconds_median": statistics.median(seconds) if seconds else None,
        "seconds_worst": max(seconds, default=None),
        "schedules": sorted({str(run["schedule"]) for run in caught}, key=len),
        "certified": len(agrees),
        **{answer: agrees.count(answer) for answer in ("equal", "smaller", "larger")},
    }


def verdict_of(law: Law, target: Target, examples: int) -> dict[str, Any]:
    """One cell of the broad matrix: any law on any fault, one search."""
    started = time.perf_counter()
    verdict, _ = search(law, target, Effort(examples=examples))
    return {
        "verdict": verdict.answer.value,
        "examples": verdict.examples,
        "seconds": round(time.perf_counter() - started, 3),
        "schedule": verdict.schedule,
    }
