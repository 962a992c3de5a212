"""The smallest failing schedules of a fault, by enumeration within a budget of decoder calls.

A limit of time would certify more on one machine than on another.
"""

from __future__ import annotations

from typing import Any

from cachecheck.certify import smallest_failing
from cachecheck.errors import CachecheckError
from cachecheck.faults import Fault
from cachecheck.laws import LAWS
from cachecheck.schedule import Schedule
from cachecheck.schedule.steps import sort_key
from cachecheck.target import as_target

CERTIFY_CALLS = 100_000
"""Decoder calls for the minima of one fault in one precision: some ten seconds."""


class NoCallsLeftError(BaseException):
    """Ends an enumeration; nothing in between that catches Exception may keep it going."""


class Budget:
    """Decoder calls that may still be made, by all decoders that share it."""

    def __init__(self, calls: int) -> None:
        self.left = calls

    def spend(self) -> None:
        """Count a call.

        Raises:
            NoCallsLeftError: there was none left.
        """
        if self.left <= 0:
            raise NoCallsLeftError
        self.left -= 1


class Limited:
    """A decoder whose calls are paid from a budget."""

    def __init__(self, decoder: Any, budget: Budget) -> None:
        vars(self).update(decoder=decoder, budget=budget)

    def __getattr__(self, name: str) -> Any:
        member = getattr(self.decoder, name)
        if not callable(member):
            return member

        def call(*arguments: Any) -> Any:
            self.budget.spend()
            return member(*arguments)

        return call


def certified(
    fault: Fault, seed: int, shrunk: str, tokens: tuple[int, ...], budget: Budget
) -> str | None:
    """Find the smallest failing schedule by enumeration; None where the budget does not reach.

    Over tokens that differ, and where those do not show so small a failure, over the shrunk ones.
    """
    target = as_target(lambda seed: Limited(fault.make(seed), budget), fault.id)
    law = LAWS[fault.law]
    try:
        decoder = target.make(seed)
        found = smallest_failing(decoder, law, shrunk)
        if found is None or _size(shrunk) < _size(found):
            found = smallest_failing(decoder, law, shrunk, ids=tokens)
    except (NoCallsLeftError, CachecheckError):
        return None
    return found


def comparison(shrunk: str, minimum: str | None) -> str | None:
    """Say how the shrunk schedule compares with the certified one; None where there is none."""
    if minimum is None:
        return None
    if shrunk == minimum:
        return "equal"
    return "smaller" if _size(shrunk) < _size(minimum) else "larger"


def _size(text: str) -> tuple[int, int, list[tuple[int, ...]]]:
    steps = Schedule.parse(text).steps
    return Schedule.parse(text).length, len(steps), [sort_key(step) for step in steps]
