"""A batch without one of its rows, wherever that row goes afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cachecheck.schedule import Append, Fork, Merge, New, Reorder, Step
from cachecheck.shrink.repair import StepWithTokens


def narrower(steps: list[StepWithTokens]) -> Iterator[list[StepWithTokens]]:
    """One row less in a step that makes rows: a new batch, a split or a reorder."""
    for at, (step, _) in enumerate(steps):
        for row in range(_width(step)):
            yield [
                *steps[:at],
                (_without(step, row), ()),
                *_WithoutRow(steps, at, row).later_steps(),
            ]


def narrower_twice(steps: list[StepWithTokens]) -> Iterator[list[StepWithTokens]]:
    """Two rows less: a batch and the rows chosen from it may have to shrink together."""
    for once in narrower(steps):
        yield from narrower(once)


def _width(step: Step) -> int:
    """The number of rows that a step makes, if it can do with one less; else 0."""
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


class _WithoutRow:
    """The steps after step ``at``, without one of its rows and all that came from that row."""

    def __init__(self, steps: list[StepWithTokens], at: int, row: int) -> None:
        self.later = steps[at + 1 :]
        self.gone: dict[str, set[int]] = {steps[at][0].branch: {row}}
        self.counts: dict[str, int] = {}
        for step, _ in steps[: at + 1]:
            self._note_row_count(step)

    def later_steps(self) -> Iterator[StepWithTokens]:
        """Each later step without the row; a step of which nothing is left is skipped."""
        for step, tokens in self.later:
            left = self._reduced(step, tokens)
            self._note_row_count(step)
            if left is not None:
                yield left

    def _reduced(self, step: Step, tokens: tuple[int, ...]) -> StepWithTokens | None:
        gone = self.gone.get(step.branch, set())
        match step:
            case Append() if gone:
                return _fewer_tokens(step, tokens, gone)
            case Fork(source=source, rows=rows):
                return self._fewer_chosen(step, rows, self.gone.get(source, set()))
            case Reorder(rows=rows):
                return self._fewer_chosen(step, rows, gone)
        self._note_rows_gone(step)
        return step, tokens

    def _fewer_chosen(
        self, step: Fork | Reorder, rows: tuple[int, ...] | None, gone: set[int]
    ) -> StepWithTokens | None:
        if rows is None:
            self.gone[step.branch] = set(gone)
            return step, ()
        self.gone[step.branch] = {place for place, row in enumerate(rows) if row in gone}
        kept = tuple(row - sum(one < row for one in gone) for row in rows if row not in gone)
        return (replace(step, rows=kept), ()) if kept else None

    def _note_rows_gone(self, step: Step) -> None:
        if isinstance(step, New):
            self.gone.pop(step.branch, None)
        if isinstance(step, Merge):
            left, right = step.sources
            shift = self.counts.get(left, 1)
            behind = {shift + row for row in self.gone.get(right, set())}
            self.gone[step.branch] = self.gone.get(left, set()) | behind

    def _note_row_count(self, step: Step) -> None:
        match step:
            case New(branch=branch, rows=rows):
                self.counts[branch] = rows or 1
            case Fork(branch=branch, source=source, rows=rows):
                self.counts[branch] = self.counts.get(source, 1) if rows is None else len(rows)
            case Reorder(branch=branch, rows=rows):
                self.counts[branch] = len(rows)
            case Merge(branch=branch, sources=sources):
                self.counts[branch] = sum(self.counts.get(source, 1) for source in sources)


def _fewer_tokens(step: Append, tokens: tuple[int, ...], gone: set[int]) -> StepWithTokens | None:
    sizes: list[int] = []
    some: list[int] = []
    begin = 0
    for row, size in enumerate(step.sizes):
        if row not in gone:
            sizes.append(size)
            some += tokens[begin : begin + size]
        begin += size
    return (replace(step, sizes=tuple(sizes)), tuple(some)) if sizes else None
