"""A case: tokens, and the schedule they are fed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cachecheck.errors import InputError
from cachecheck.schedule.schedule import Schedule


@dataclass(frozen=True)
class Case:
    """Tokens and the steps they are fed in; a law is tried on one of these.

    Calls take the tokens in order, each its share, whatever branch they are on. A call on a batch
    takes them row after row.

    Raises:
        InputError: the schedule does not add up to the tokens.
    """

    tokens: tuple[int, ...]
    schedule: Schedule

    def __post_init__(self) -> None:
        if self.schedule.length != len(self.tokens):
            raise InputError(
                f"the schedule {self.schedule} is for {self.schedule.length} tokens; "
                f"got {len(self.tokens)}"
            )

    @classmethod
    def of(cls, tokens: Sequence[int], chunks: Sequence[int]) -> Case:
        """A case of a plain schedule, from plain sequences."""
        return cls(tuple(tokens), Schedule.of(chunks))
