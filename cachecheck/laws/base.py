"""What a law is, and how rows are compared.

A law is a pure function of a decoder and a case. It knows the border, schedules and tolerances;
it must not know the reference, Hypothesis or any engine, so that random search, exhaustive
certification and replay can share it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cachecheck.guard import Guarded, Rows
from cachecheck.schedule import Case, Schedule
from cachecheck.verdict import Finding, Violation


@dataclass(frozen=True)
class Law:
    """A property every right decoder has.

    Attributes:
        id: stable; appears in test ids, reports, the README and the command line.
        statement: one sentence.
        reason: why it must hold.
        not_claimed: what holding does not show.
        check: tries it on one case.
        least_calls: cases with fewer calls show nothing.
        everywhere: True if it must hold on every case; False if it must show on at least one.
    """

    id: str
    statement: str
    reason: str
    not_claimed: str
    check: Callable[[Guarded, Case], Finding]
    least_calls: int = 1
    everywhere: bool = True


def changed(tokens: Sequence[int], start: int, stop: int, vocab_size: int) -> list[int]:
    """``tokens`` with those at positions start ... stop-1 replaced by the next ID."""
    return [
        (token + 1) % vocab_size if start <= position < stop else token
        for position, token in enumerate(tokens)
    ]


def feed(decoder: Guarded, tokens: Sequence[int], schedule: Schedule) -> tuple[list[Rows], Any]:
    """Decode ``tokens`` call by call from an empty cache: the rows of each call, and the cache."""
    cache = decoder.new_cache()
    rows = []
    for start, stop in schedule.spans:
        some, cache = decoder.extend(tokens[start:stop], cache)
        rows.append(some)
    return rows, cache


@dataclass(frozen=True)
class Comparison:
    """Rows that should be equal, and where they stand."""

    law: str
    kind: str
    tolerance: float
    message: str

    def of(self, got: Rows, expected: Rows, *, position: int, call: int | None = None) -> Finding:
        """Compare (T, width) rows, the first of which stands at ``position`` of the sequence."""
        distance = np.abs(got.astype(np.float64) - expected.astype(np.float64)).max(axis=1)  # (T,)
        largest = float(distance.max(initial=0.0))
        wrong = np.flatnonzero(distance > self.tolerance)
        if not wrong.size:
            return Finding(largest, self.tolerance)
        row = int(wrong[0])
        return Finding(
            largest,
            self.tolerance,
            Violation(
                law=self.law,
                kind=self.kind,
                position=position + row,
                difference=float(distance[row]),
                tolerance=self.tolerance,
                message=self.message,
                call=call,
                row=None if call is None else row,
            ),
        )


def gather(findings: Sequence[Finding]) -> Finding:
    """The first violation among them, else the one that came closest to its tolerance."""
    for finding in findings:
        if finding.violation is not None:
            return finding
    return max(findings, key=closeness)


def closeness(finding: Finding) -> float:
    """Difference as a share of the tolerance; a tolerance of 0 belongs to rows that are all 0."""
    return finding.difference / finding.tolerance if finding.tolerance else finding.difference
