"""What a certification amounts to, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from cachecheck.errors import CachecheckError
from cachecheck.verdict import Answer, Reason, Violation


@dataclass(frozen=True)
class Certificate:
    """What was proved of a decoder, or the smallest schedule on which it fails.

    Attributes:
        law: id of the law.
        answer: HOLDS, VIOLATED, INCONCLUSIVE (doubtful differences) or UNSUPPORTED.
        method: how, in a few words.
        covered: schedules that this covers.
        calls: decoder calls that it took.
        proves: what follows, exactly, and on which assumption; one sentence each.
        largest_difference: between rows that should be equal.
        drift: what rounding adds up to over many calls; None where not measured.
        schedule: the smallest failing one: no smaller one fails (see ``shrink.size_of``).
        tokens: its tokens.
        violation: what is wrong there.
        reasons: why it is INCONCLUSIVE, or what else a reader should know.
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
