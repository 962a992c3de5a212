"""What a law is, and how rows are compared.

A law is a pure function of a decoder and a case. It knows the border, schedules and tolerances;
it must not know the reference, Hypothesis or any engine, so that random search, exhaustive
certification and replay can share it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cachecheck.errors import Unsupported
from cachecheck.guard import Guarded, Rows
from cachecheck.members import CAPABILITIES
from cachecheck.schedule import Case, Schedule
from cachecheck.tolerance import shares
from cachecheck.verdict import NOT_OFFERED, Finding, Violation


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
        needs: capabilities without which it says nothing: ids of `protocol.CAPABILITIES`,
            ``window`` or ``max_length``.
        exact: whether it compares the same calls of the same shapes, on which rounding is the same.
        operations: what its cases do besides calls on one branch; empty for plain schedules.
            ``batch`` stands for batches and calls on them.
        implies: laws that follow from this one, each with the reason.
    """

    id: str
    statement: str
    reason: str
    not_claimed: str
    check: Callable[[Guarded, Case], Finding]
    least_calls: int = 1
    everywhere: bool = True
    needs: tuple[str, ...] = ()
    exact: bool = False
    operations: frozenset[str] = frozenset()
    implies: Mapping[str, str] = field(default_factory=dict)

    def lacking(self, decoder: Guarded) -> str | None:
        """What ``decoder`` would have to offer for this law to say anything; None if nothing."""
        declared = decoder.capabilities
        for name in self.needs:
            bound = {"window": declared.window, "max_length": declared.max_length}.get(name)
            if bound is None and name not in declared.offers:
                known = CAPABILITIES.get(name)
                return f"{NOT_OFFERED}{known.members if known else name}"
        return None

    def examine(self, decoder: Guarded, case: Case) -> Finding:
        """Try it on one case, and tell the decoder in the end that the caches are done with.

        Raises:
            Unsupported: the decoder lacks what the law needs, or refuses.
            DecoderError: the decoder raised, or gave what cannot be used.
        """
        lacking = self.lacking(decoder)
        if lacking is not None:
            raise Unsupported(lacking)
        with decoder.fresh() as own:
            finding = self.check(own, case)
        return self._looked_at_closely(decoder, case, finding)

    def _looked_at_closely(self, decoder: Guarded, case: Case, finding: Finding) -> Finding:
        """What is within the tolerance and not equal, in float64 where that is offered.

        A mistake may be milder than the tolerance of a short precision; in float64 it is plain.
        """
        close = finding.violation is None and finding.difference > 0 and self.everywhere
        if not close or decoder.float64 is None:
            return finding
        with decoder.float64.fresh() as exact:
            again = self.check(exact, case)
        if again.violation is None or in_doubt(exact, again):
            return finding
        said = f"{again.violation.message} (in float64; rounding hides it in {decoder.precision})"
        return replace(again, violation=replace(again.violation, message=said))


def feed(decoder: Guarded, tokens: Sequence[int], schedule: Schedule) -> tuple[list[Rows], Any]:
    """Decode ``tokens`` call by call from an empty cache: the rows of each call, and the cache."""
    cache = decoder.new_cache()
    rows = []
    for start, stop in schedule.spans:
        some, cache = decoder.extend(tokens[start:stop], cache)
        rows.append(some)
    return rows, cache


@dataclass(frozen=True)
class RowComparison:
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
        sequence: int | None = None,
        skipped: int = 0,
    ) -> Finding:
        """Compare (T, width) rows, the first of which stands at ``position`` of the sequence.

        Args:
            got: the rows in question.
            expected: what they should be.
            bounds: how far from each entry is still equal.
            position: of the first row.
            call: the call that gave them, counted from 1; None for a full pass.
            sequence: of a batch, which of its sequences; None for one alone.
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
    closest = max(findings, key=closeness)
    first = next((one.violation for one in findings if one.violation is not None), None)
    return replace(closest, violation=first)


def closeness(finding: Finding) -> float:
    """Difference as a share of the tolerance; a tolerance of 0 belongs to rows that are all 0."""
    if finding.tolerance:
        return finding.difference / finding.tolerance
    return float("inf") if finding.difference else 0.0


def in_doubt(decoder: Guarded, finding: Finding) -> bool:
    """Whether a difference beyond the tolerance may still be rounding (see tolerance.py)."""
    broken = finding.violation
    compared = broken is not None and broken.difference is not None
    return compared and closeness(finding) <= decoder.doubt
