"""Schedules as values: which calls a sequence is fed in, and the one-line notation for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from cachecheck.errors import InputError

_NOTATION = re.compile(r"[1-9][0-9]*(\+[1-9][0-9]*)*")


@dataclass(frozen=True)
class Schedule:
    """The chunk sizes of the calls, in order; written ``5+3+7+9``.

    Raises:
        InputError: no chunk at all, or a size below 1.
    """

    chunks: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.chunks or any(size < 1 for size in self.chunks):
            raise InputError(f"a schedule needs chunk sizes >= 1; got {list(self.chunks)}")

    @classmethod
    def parse(cls, text: str) -> Schedule:
        """Read the notation back: ``Schedule.parse(str(schedule)) == schedule``.

        Raises:
            InputError: text that is not sizes joined by plus signs.
        """
        if not _NOTATION.fullmatch(text):
            raise InputError(f"a schedule is chunk sizes joined by +, like 5+3+7; got {text!r}")
        return cls(tuple(int(size) for size in text.split("+")))

    def __str__(self) -> str:
        return "+".join(map(str, self.chunks))

    @property
    def length(self) -> int:
        """Tokens in all."""
        return sum(self.chunks)

    @property
    def spans(self) -> list[tuple[int, int]]:
        """(start, stop) positions of each chunk; start is the past of that call."""
        stops = list(accumulate(self.chunks))
        return list(zip([0, *stops[:-1]], stops, strict=True))

    @property
    def cuts(self) -> list[int]:
        """The positions at which a later chunk starts; empty for a single call."""
        return [start for start, _ in self.spans[1:]]


def partitions(length: int) -> Iterator[Schedule]:
    """Every way to cut ``length`` tokens into chunks, all 2^(length-1) of them.

    Fewest chunks first, then by the sizes of the leading chunks.
    """
    if length < 1:
        raise InputError(f"a length must be at least 1; got {length}")
    for count in range(1, length + 1):
        yield from (Schedule(chunks) for chunks in _compositions(length, count))


def _compositions(length: int, count: int) -> Iterator[tuple[int, ...]]:
    if count == 1:
        yield (length,)
        return
    for first in range(1, length - count + 2):
        for rest in _compositions(length - first, count - 1):
            yield (first, *rest)


@dataclass(frozen=True)
class Case:
    """What a law is tried on: a sequence of tokens and the calls it is fed in.

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
        """A case from plain sequences."""
        return cls(tuple(tokens), Schedule(tuple(chunks)))
