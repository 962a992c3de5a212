"""The schedule itself: steps that fit together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

from cachecheck.errors import InputError
from cachecheck.schedule.branches import Branches
from cachecheck.schedule.notation import format_steps, parse_steps
from cachecheck.schedule.steps import FIRST, Append, New, Step

_MOST_TOKENS, _MOST_ROWS = 1_000_000, 1_000


@dataclass(frozen=True)
class Schedule:
    """The calls and cache operations of a case, in order; written ``5+3 b=a b:2``.

    Most are *plain*: calls on one branch alone, a sequence cut into chunks, written ``5+3+7+9``.

    Raises:
        InputError: no call at all, or a step that does not fit those before it.
    """

    steps: tuple[Step, ...]

    def __post_init__(self) -> None:
        if not any(isinstance(step, Append) for step in self.steps):
            raise InputError("a schedule needs at least one call with tokens, like 5 or 5+3")
        largest = max(map(token_count, self.steps), default=0)
        rows = [step.rows for step in self.steps if isinstance(step, New) and step.rows]
        if largest > _MOST_TOKENS or max(rows, default=0) > _MOST_ROWS:
            raise InputError(
                f"a call has at most {_MOST_TOKENS:,} tokens and a batch {_MOST_ROWS:,} rows; "
                f"got {largest:,} and {max(rows, default=0):,}"
            )
        branches = Branches()
        for number, step in enumerate(self.steps, start=1):
            try:
                branches.apply(step, (0,) * token_count(step))
            except InputError as error:
                raise InputError(
                    f"step {number} of {format_steps(self.steps)!r}: {error}"
                ) from error

    @classmethod
    def of(cls, chunks: Sequence[int]) -> Schedule:
        """The plain schedule of these chunk sizes.

        Raises:
            InputError: no chunk at all, or a size below 1.
        """
        if not chunks or any(size < 1 for size in chunks):
            raise InputError(f"a schedule needs chunk sizes >= 1; got {list(chunks)}")
        return cls(tuple(Append(FIRST, (size,)) for size in chunks))

    @classmethod
    def parse(cls, text: str) -> Schedule:
        """Read the notation back: ``Schedule.parse(str(schedule)) == schedule``.

        Raises:
            InputError: text that is not in the notation, or steps that do not fit.
        """
        return cls(parse_steps(text))

    def __str__(self) -> str:
        return format_steps(self.steps)

    def __repr__(self) -> str:
        return f"Schedule.parse({str(self)!r})"

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        """The same in a notebook and in what Hypothesis prints: both take dataclasses apart."""
        printer.text(repr(self))

    @cached_property
    def plain(self) -> bool:
        """True if it is calls on the first branch and nothing else."""
        return all(isinstance(one, Append) and one.branch == FIRST for one in self.steps)

    @cached_property
    def chunks(self) -> tuple[int, ...]:
        """Sizes of the calls of a plain schedule.

        Raises:
            InputError: it has other steps than calls on the first branch.
        """
        if not self.plain:
            raise InputError(f"expected calls on one branch alone, like 5+3; got {self}")
        return tuple(token_count(step) for step in self.steps)

    @cached_property
    def length(self) -> int:
        """Tokens appended in all, over all branches."""
        return sum(map(token_count, self.steps))

    @cached_property
    def longest(self) -> int:
        """Tokens in the longest sequence that any branch comes to hold."""
        if self.plain:
            return self.length
        return max(branch.length for branches in self.walk() for branch in branches.live.values())

    @property
    def spans(self) -> list[tuple[int, int]]:
        """(start, stop) positions of each chunk of a plain schedule; start is its past."""
        stops = list(accumulate(self.chunks))
        return list(zip([0, *stops[:-1]], stops, strict=True))

    @property
    def cuts(self) -> list[int]:
        """The positions at which a later chunk starts; empty for a single call."""
        return [start for start, _ in self.spans[1:]]

    def walk(self, tokens: Sequence[int] | None = None) -> Iterator[Branches]:
        """The branches after each step: the same object every time, updated in place."""
        branches, at = Branches(), 0
        given = (0,) * self.length if tokens is None else tokens
        for step in self.steps:
            size = token_count(step)
            branches.apply(step, given[at : at + size])
            at += size
            yield branches


def token_count(step: Step) -> int:
    """The number of tokens that a step appends."""
    return sum(step.sizes) if isinstance(step, Append) else 0


def operations_of(schedule: Schedule) -> set[str]:
    """Names of the operations of its steps; with ``batch`` if it makes a batch."""
    named = {step.operation for step in schedule.steps}
    batches = any(isinstance(step, New) and step.rows is not None for step in schedule.steps)
    return named | ({"batch"} if batches else set())
