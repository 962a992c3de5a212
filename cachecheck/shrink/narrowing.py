"""A batch without one of its rows, wherever that row goes afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cachecheck.schedule import Append, Fork, Merge, New, Reorder, Step
from cachecheck.shrink.repair import Fed


def narrower(fed: list[Fed]) -> Iterator[list[Fed]]:
    """One row less where rows come from: a new batch, a split or a reorder that chooses them."""
    for at, (step, _) in enumerate(fed):
        for row in range(_width(step)):
            yield [*fed[:at], (_without(step, row), ()), *_Followed(fed, at, row).rest()]


def narrower_twice(fed: list[Fed]) -> Iterator[list[Fed]]:
    """Two rows less: a batch and what is chosen from it may have to shrink together."""
    for once in narrower(fed):
        yield from narrower(once)


def _width(step: Step) -> int:
    """How many rows a step brings about, if there is one to spare."""
    match step:
        case New(rows=int(count)) if count > 1:
            return count
        case Fork(rows=tuple(rows)) | Reorder(rows=tuple(rows)) if len(rows) > 1:
            return len(rows)
    return 0


def _without(step: Step, row: int) -> Step:
    match step:
        case New(rows=int(count)):
            return replace(step, rows=count - 1)
        case Fork(rows=tuple(rows)) | Reorder(rows=tuple(rows)):
            return replace(step, rows=rows[:row] + rows[row + 1 :])
    raise AssertionError(step)


class _Followed:
    """The steps after ``at``, in which what came of one row is left out."""

    def __init__(self, fed: list[Fed], at: int, row: int) -> None:
        self.later = fed[at + 1 :]
        self.gone: dict[str, set[int]] = {fed[at][0].branch: {row}}
        self.counts: dict[str, int] = {}
        for step, _ in fed[: at + 1]:
            self._count(step)

    def rest(self) -> Iterator[Fed]:
        """Each later step as it is without the row; none where nothing is left of it."""
        for step, tokens in self.later:
            left = self._left(step, tokens)
            self._count(step)
            if left is not None:
                yield left

    def _left(self, step: Step, tokens: tuple[int, ...]) -> Fed | None:
        gone = self.gone.get(step.branch, set())
        match step:
            case Append() if gone:
                return _fewer(step, tokens, gone)
            case Fork(source=source, rows=rows):
                return self._chosen(step, rows, self.gone.get(source, set()))
            case Reorder(rows=rows):
                return self._chosen(step, rows, gone)
        self._other(step)
        return step, tokens

    def _chosen(
        self, step: Fork | Reorder, rows: tuple[int, ...] | None, gone: set[int]
    ) -> Fed | None:
        if rows is None:
            self.gone[step.branch] = set(gone)
            return step, ()
        self.gone[step.branch] = {place for place, row in enumerate(rows) if row in gone}
        kept = tuple(row - sum(one < row for one in gone) for row in rows if row not in gone)
        return (replace(step, rows=kept), ()) if kept else None

    def _other(self, step: Step) -> None:
        if isinstance(step, New):
            self.gone.pop(step.branch, None)
        if isinstance(step, Merge):
            left, right = step.sources
            shift = self.counts.get(left, 1)
            behind = {shift + row for row in self.gone.get(right, set())}
            self.gone[step.branch] = self.gone.get(left, set()) | behind

    def _count(self, step: Step) -> None:
        match step:
            case New(branch=branch, rows=rows):
                self.counts[branch] = rows or 1
            case Fork(branch=branch, source=source, rows=rows):
                self.counts[branch] = self.counts.get(source, 1) if rows is None else len(rows)
            case Reorder(branch=branch, rows=rows):
                self.counts[branch] = len(rows)
            case Merge(branch=branch, sources=sources):
                self.counts[branch] = sum(self.counts.get(source, 1) for source in sources)


def _fewer(step: Append, tokens: tuple[int, ...], gone: set[int]) -> Fed | None:
    sizes: list[int] = []
    some: list[int] = []
    begin = 0
    for row, size in enumerate(step.sizes):
        if row not in gone:
            sizes.append(size)
            some += tokens[begin : begin + size]
        begin += size
    return (replace(step, sizes=tuple(sizes)), tuple(some)) if sizes else None
