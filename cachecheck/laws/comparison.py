"""Comparison of rows with the rows that are expected, as shares of the tolerance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cachecheck.guard import Rows
from cachecheck.tolerance import shares
from cachecheck.verdict import Finding, Violation


@dataclass(frozen=True)
class RowComparison:
    """A comparison of rows that should be equal: the law, kind and message of its violation."""

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
        sequence: int | None = None,
        skipped: int = 0,
    ) -> Finding:
        """Compare (T, width) rows, the first of which stands at ``position`` of the sequence.

        Args:
            got: the rows in question.
            expected: the rows that they should be.
            bounds: (T, width) the largest difference of each entry that counts as equal.
            position: of the first row.
            call: the call that gave them, counted from 1; None for a full pass.
            sequence: index of the sequence in its batch; None for one alone.
            skipped: rows of the call before these.
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
            row=None if call is None else skipped + row,
            sequence=sequence,
        )
        return replace(found, violation=violation)


def distances(
    got: Rows, expected: Rows, bounds: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Absolute differences (T, width), and the same as shares of their bounds."""
    distance = np.abs(got.astype(np.float64) - expected.astype(np.float64))
    return distance, shares(got, expected, bounds)


def gather(findings: Sequence[Finding]) -> Finding:
    """One finding for several: the first violation, the difference that is the largest share."""
    largest = max(findings, key=severity)
    first = next((one.violation for one in findings if one.violation is not None), None)
    return replace(largest, violation=first)


def severity(finding: Finding) -> tuple[float, float]:
    """An order of findings: by `share_of_tolerance`; then those in which rows were compared.

    A tolerance of 0 belongs to a count, or to no comparison at all.
    """
    return share_of_tolerance(finding), finding.tolerance


def share_of_tolerance(finding: Finding) -> float:
    """Difference as a share of the tolerance; a tolerance of 0 belongs to rows that are all 0."""
    if finding.tolerance:
        return finding.difference / finding.tolerance
    return float("inf") if finding.difference else 0.0
