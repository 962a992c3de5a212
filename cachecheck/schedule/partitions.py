"""The partitions of a sequence into calls."""

from __future__ import annotations

from collections.abc import Iterator

from cachecheck.errors import InputError
from cachecheck.schedule.schedule import Schedule


def partitions(length: int) -> Iterator[Schedule]:
    """Every way to cut ``length`` tokens into chunks, all 2^(length-1) of them.

    Fewest chunks first, then by the sizes of the leading chunks.
    """
    if length < 1:
        raise InputError(f"a length must be at least 1; got {length}")
    for count in range(1, length + 1):
        yield from (Schedule.of(chunks) for chunks in _compositions(length, count))


def _compositions(length: int, count: int) -> Iterator[tuple[int, ...]]:
    if count == 1:
        yield (length,)
        return
    for first in range(1, length - count + 2):
        for rest in _compositions(length - first, count - 1):
            yield (first, *rest)
