"""Certificates: the results of certifications, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from cachecheck.errors import CachecheckError
from cachecheck.verdict import Answer, Reason, Violation


@dataclass(frozen=True)
class Certificate:
    """The proof of a law for a decoder, or the smallest schedule on which it fails.

    Attributes:
        law: id of the law.
        answer: HOLDS, VIOLATED, INCONCLUSIVE (doubtful differences) or UNSUPPORTED.
        method: name of the method.
        covered: number of schedules that this covers.
        calls: decoder calls that it took.
        proves: the statements that are proved, and their assumptions; one sentence each.
        largest_difference: between rows that should be equal.
        drift: sum of rounding over many calls; None where not measured.
        schedule: the smallest failing one: no smaller one fails (see ``shrink.size_of``).
        tokens: its tokens.
        violation: of the law in that case.
        reasons: the reasons for INCONCLUSIVE, and notes for the reader.
    """

    law: str
    answer: Answer
    method: str
    covered: int
    calls: int
    proves: tuple[str, ...] = ()
    largest_difference: float = 0.0
    drift: float | None = None
    schedule: str | None = None
    tokens: tuple[int, ...] | None = None
    violation: Violation | None = None
    reasons: tuple[Reason, ...] = ()


class NotCanonicalError(CachecheckError):
    """The state after some calls depends on how the tokens were cut: no induction over it."""
