"""Drawn cases run with a fault and without, and their rows compared to the bit."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from benchmarks.engine_faults.fault import EngineFault, patched
from cachecheck.engines.hugging_face.variants import VARIANTS
from cachecheck.errors import CachecheckError, Unsupported
from cachecheck.guard import Guarded
from cachecheck.guard.answers import Rows
from cachecheck.judge import Trial
from cachecheck.laws import LAWS
from cachecheck.laws.comparison import distances
from cachecheck.search.cases import Effort, numbered_cases

COMPARED = {"programs": 20, "schedule": 100, "reorder": 10}
"""Cases of each law that are run twice, for each variant."""

USUAL = "dynamic"
"""The variant whose tolerance says whether a row is off."""

_SEEDS = range(2)
_ROWS = ("full", "extend", "full_batch", "extend_batch")


@dataclass(frozen=True)
class Change:
    """The effect of a fault on the rows of drawn cases.

    Attributes:
        cases: run with it and without.
        changed: of them, with a row that is not the same to the bit.
        share: the largest difference as a share of the tolerance; None where rows are missing, for
            one of the two raised.
    """

    cases: int = 0
    changed: int = 0
    share: float | None = 0.0

    @property
    def beyond(self) -> bool:
        """True if a row is farther off than the tolerance, or missing."""
        return self.share is None or self.share > 1


class _Recorded:
    """A decoder whose rows are kept."""

    def __init__(self, decoder: Any) -> None:
        self.__dict__.update(decoder=decoder, rows=[])

    def __getattr__(self, name: str) -> Any:
        member = getattr(self.decoder, name)
        if name not in _ROWS or not callable(member):
            return member

        def call(*given: Any) -> Any:
            answer = member(*given)
            rows = answer[0] if name.startswith("extend") else answer
            self.rows.extend(rows if isinstance(rows, list) else [rows])
            return answer

        return call


def compared(fault: EngineFault, architecture: str) -> Change:
    """Run cases until a row is off by more than the tolerance, or there are no more."""
    total = Change()
    for variant in fault.variants:
        if not _runs(architecture, variant):
            continue
        for law, count in COMPARED.items():
            for number in range(count):
                total = _added(total, _case(fault, architecture, variant, (law, number)))
                if total.beyond:
                    return total
    return total


def _added(total: Change, one: Change) -> Change:
    both = (total.share, one.share)
    share = None if None in both else max(value for value in both if value is not None)
    return Change(total.cases + one.cases, total.changed + one.changed, share)


def _case(fault: EngineFault, architecture: str, variant: str, case: tuple[str, int]) -> Change:
    right = _right(architecture, variant, *case)
    with patched(fault, architecture):
        wrong = _rows(architecture, variant, *case)
    same = [_same(got, due) for got, due in zip(wrong, right, strict=False)]
    if all(same):
        equal = len(wrong) == len(right)
        return Change(1, 0 if equal else 1, 0.0 if equal else None)
    bounds = _guarded(architecture, USUAL, 0).bounds  # whatever less the variant promises
    shares: list[float | None] = [
        float(distances(got, due, bounds(due))[1].max()) if got.shape == due.shape else None
        for got, due in zip(wrong, right, strict=False)
    ]
    known = [share for share in shares if share is not None]
    return Change(1, 1, None if None in shares else max(known))


def _same(got: Rows, due: Rows) -> bool:
    return got.shape == due.shape and got.tobytes() == due.tobytes()


@lru_cache(maxsize=1024)
def _right(architecture: str, variant: str, law: str, number: int) -> list[Rows]:
    return _rows(architecture, variant, law, number)


def _rows(architecture: str, variant: str, law: str, number: int) -> list[Rows]:
    """The rows that the decoder gave until the case ended."""
    drawn = _drawn(architecture, variant, law, number)
    recorded = _Recorded(_decoder(architecture, variant, drawn.decoder_seed))
    with contextlib.suppress(CachecheckError), np.errstate(all="ignore"):
        LAWS[law].check(Guarded(recorded), drawn.case)
    return list(recorded.rows)


@lru_cache(maxsize=1024)
def _drawn(architecture: str, variant: str, law: str, number: int) -> Trial:
    def make(seed: int) -> Guarded:
        return _guarded(architecture, variant, seed)

    return numbered_cases(make, _SEEDS, LAWS[law], Effort())(number)


@lru_cache
def _guarded(architecture: str, variant: str, seed: int) -> Guarded:
    return Guarded(_decoder(architecture, variant, seed))


@lru_cache
def _decoder(architecture: str, variant: str, seed: int) -> Any:
    return VARIANTS[variant].decoder(architecture, seed)


@lru_cache
def _runs(architecture: str, variant: str) -> bool:
    try:
        _decoder(architecture, variant, 0)
    except Unsupported:
        return False
    return True
