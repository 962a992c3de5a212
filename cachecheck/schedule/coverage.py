"""The calls that a search has made, counted by past, chunk and place of the window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from cachecheck.schedule import Append, Branches, Schedule

PASTS = ("0", "1", "2-7", "8-15", "16+")
CHUNKS = ("1", "2-7", "8+")
WINDOWS = ("none", "within", "across", "beyond")
"""No window; the call ends within the first window's length; crosses it; begins beyond it."""

CallClass = tuple[str, str, str]
"""A class of calls: one of `PASTS`, one of `CHUNKS`, one of `WINDOWS`."""


def classes_of(schedule: Schedule, window: int | None) -> Counter[CallClass]:
    """The number of calls of each class in a schedule; each row of a batch counts."""
    return Counter(
        (_past(past), _chunk(chunk), _window(past, chunk, window))
        for past, chunk in _calls(schedule)
    )


def _calls(schedule: Schedule) -> Iterator[tuple[int, int]]:
    """(past, chunk) of each call and row."""
    if schedule.plain:
        yield from ((start, stop - start) for start, stop in schedule.spans)
        return
    branches = Branches()
    for step in schedule.steps:
        if isinstance(step, Append):
            rows = branches.live[step.branch].rows
            yield from zip(map(len, rows), step.sizes, strict=True)
            branches.apply(step, (0,) * sum(step.sizes))
        else:
            branches.apply(step)


def _past(past: int) -> str:
    if past < 2:
        return str(past)
    return "2-7" if past < 8 else "8-15" if past < 16 else "16+"


def _chunk(chunk: int) -> str:
    return "1" if chunk == 1 else "2-7" if chunk < 8 else "8+"


def _window(past: int, chunk: int, window: int | None) -> str:
    if window is None:
        return "none"
    if past + chunk <= window:
        return "within"
    return "across" if past < window else "beyond"


def as_pairs(covered: Mapping[CallClass, int]) -> tuple[tuple[str, int], ...]:
    """The counts as plain data: ``past|chunk|window`` and its count, sorted."""
    return tuple(("|".join(key), count) for key, count in sorted(covered.items()))


def from_pairs(data: Iterable[tuple[str, int]]) -> Counter[CallClass]:
    """The counts that `as_pairs` wrote."""
    counts: Counter[CallClass] = Counter()
    for key, count in data:
        past, chunk, window = key.split("|")
        counts[past, chunk, window] = count
    return counts
