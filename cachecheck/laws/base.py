"""What a law is, and how rows are compared.

A law is a pure function of a decoder and a case. It knows the border, schedules and tolerances;
it must not know the reference, Hypothesis or any engine, so that random search, exhaustive
certification and replay can share it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    """Rows that should be equal, and what it means if they are not."""

    law: str
    kind: str
    message: str

    def of(
        self,
        got: Rows,
        expected: Rows,
        bounds: NDArray[np.float64],
        *,
        position: int,
        call: int | None = None,
    ) -> Finding:
        """Compare (T, width) rows, the first of which stands at ``position`` of the sequence.

        Args:
            got: the rows in question.
            expected: what they should be.
            bounds: how far from each entry is still equal.
            position: of the first row.
            call: the call that gave them, counted from 1; None for a full pass.
        """
        distance, share = distances(got, expected, bounds)
        worst = np.unravel_index(int(np.argmax(share)), share.shape)
        found = Finding(float(distance[worst]), float(bounds[worst]))
        wrong = np.flatnonzero((distance > bounds).any(axis=1))
        if not wrong.size:
            return found
        row = int(wrong[0])
        column = int(np.argmax(share[row]))
        violation = Violation(
            law=self.law,
            kind=self.kind,
            position=position + row,
            difference=float(distance[row, column]),
            tolerance=float(bounds[row, column]),
            message=self.message,
            call=call,
            row=None if call is None else row,
        )
        return replace(found, violation=violation)


def distances(
    got: Rows, expected: Rows, bounds: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Absolute differences (T, width), and the same as shares of their bounds.

    Where a bound is zero, so is every row of the decoder; any difference is then infinitely large.
    """
    distance = np.abs(got.astype(np.float64) - expected.astype(np.float64))
    share = np.where(distance > 0, np.inf, 0.0)
    np.divide(distance, bounds, out=share, where=bounds > 0)
    return distance, share


def gather(findings: Sequence[Finding]) -> Finding:
    """One finding for several: the first violation, the difference that is the largest share."""
    closest = max(findings, key=closeness)
    first = next((one.violation for one in findings if one.violation is not None), None)
    return replace(closest, violation=first)


def closeness(finding: Finding) -> float:
    """Difference as a share of the tolerance; a tolerance of 0 belongs to rows that are all 0."""
    if finding.tolerance:
        return finding.difference / finding.tolerance
    return float("inf") if finding.difference else 0.0
