"""Random programs: schedules with cache operations on several branches.

The shapes that break caches are drawn on purpose: rollbacks of one token and of many, a fork that
goes on at once, operations on empty and on full branches, ragged calls.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection
from dataclasses import dataclass

from cachecheck.schedule import (
    FIRST,
    Append,
    Branch,
    Branches,
    Crop,
    Fork,
    Merge,
    New,
    Release,
    Reorder,
    Reset,
    Save,
    Schedule,
    Step,
    branch_name,
)

BRANCHES, ROWS = 4, 4
"""Most live branches at a time, and rows of a batch."""

_STEPS = (3, 4, 5, 6, 8, 10, 14)
_BEAMS = 0.5
"""Of the reorderings that keep the number of rows, as every one of a beam search does."""


@dataclass(frozen=True)
class Room:
    """What a program may reach.

    Attributes:
        longest: tokens in any sequence.
        window: of the decoder, or None.
        single: whether branches of one sequence are wanted; else batches alone.
        even: whether a batch's rows all get as many tokens, once it holds any.
    """

    longest: int
    window: int | None = None
    single: bool = True
    even: bool = False


def draw_program(rng: random.Random, operations: Collection[str], room: Room) -> Schedule:
    """A schedule with some of ``operations`` (names of `OPERATIONS`, and ``batch``)."""
    return Schedule(_Writer(rng, frozenset(operations), room).write())


class _Writer:
    """A program as it is written: the steps so far, and what every branch holds."""

    def __init__(self, rng: random.Random, operations: frozenset[str], room: Room) -> None:
        self.rng, self.operations, self.room = rng, operations, room
        self.branches = Branches()
        self.steps: list[Step] = []
        # Short programs too, where a long history has no time to build up: half have short calls.
        self.most_new = rng.choice((3, room.longest))

    def write(self) -> tuple[Step, ...]:
        """All of it: tokens first, then operations and tokens in turn, tokens last."""
        if self.room.single:
            self._take(Append(FIRST, (self._size(0),)))
        else:
            self._take(self._new_batch())
        for _ in range(self.rng.choice(_STEPS)):
            step = self._operation() if self.rng.random() < 0.5 else self._append()
            if step is not None:
                self._take(step)
        # Each branch goes on once more: what an operation broke shows in later rows only.
        for name in list(self.branches.live):
            step = self._append_to(name)
            if step is not None:
                self._take(step)
        return tuple(self.steps)

    def _take(self, step: Step) -> None:
        size = sum(step.sizes) if isinstance(step, Append) else 0
        self.branches.apply(step, (0,) * size)
        self.steps.append(step)

    def _append(self) -> Step | None:
        return self._append_to(self.rng.choice(self._names()))

    def _append_to(self, name: str) -> Step | None:
        branch = self.branches.live[name]
        if branch.length >= self.room.longest or (name == FIRST and not self.room.single):
            return None
        if self.room.even and branch.length:
            return Append(name, (self._size(branch.length),) * len(branch.rows))
        return Append(name, tuple(self._size(len(row)) for row in branch.rows))

    def _size(self, past: int) -> int:
        left = self.room.longest - past
        most = min(left, self.most_new)
        return 1 if self.rng.random() < 0.3 else self.rng.randint(1, most)

    def _operation(self) -> Step | None:
        """One that fits now, all kinds alike; None where nothing does."""
        kinds = [kind for kind in _KINDS if kind in self.operations]
        self.rng.shuffle(kinds)
        for kind in kinds:
            step = _KINDS[kind](self)
            if step is not None:
                return step
        return None

    def _names(self, *, batch: bool | None = None) -> list[str]:
        """Live branches, of one kind if asked; in a program of batches the first is left alone."""
        return [
            name
            for name, branch in self.branches.live.items()
            if batch in (None, branch.batch) and (self.room.single or name != FIRST)
        ]

    def _fresh(self) -> str:
        """The name of the next new branch."""
        return branch_name(len(self.branches.live) + len(self.branches.ended))

    def _full(self) -> bool:
        return len(self.branches.live) >= BRANCHES

    def _one(self, names: list[str]) -> str | None:
        return self.rng.choice(names) if names else None

    def fork(self) -> Step | None:
        source = self._one(self._names())
        return None if source is None or self._full() else Fork(self._fresh(), source)

    def new(self) -> Step | None:
        return None if self._full() or not self.room.single else New(self._fresh())

    def new_batch(self) -> Step | None:
        return None if self._full() else self._new_batch()

    def _new_batch(self) -> Step:
        return New(self._fresh(), self.rng.randint(1, ROWS))

    def crop(self) -> Step | None:
        filled = [name for name in self._names(batch=False) if self.branches.live[name].length > 1]
        name = self._one(filled)
        if name is None:
            return None
        held = self.branches.live[name].length
        back = self.rng.choice((0, 1, 1, 2, 3, self.rng.randint(1, held - 1)))
        return Crop(name, max(1, held - back))

    def save(self) -> Step | None:
        name = self._one(self._names(batch=False))
        return None if name is None else Save(name)

    def reset(self) -> Step | None:
        name = self._one(self._names(batch=False))
        return None if name is None else Reset(name)

    def release(self) -> Step | None:
        names = self._names()
        return Release(self.rng.choice(names)) if len(names) > 1 else None

    def reorder(self) -> Step | None:
        names = self._names(batch=True)
        filled = [name for name in names if self.branches.live[name].length]
        name = self._one(filled or names)  # nothing shows where there is nothing to move
        if name is None:
            return None
        branch = self.branches.live[name]
        if self.rng.random() < _BEAMS:
            return Reorder(name, self._drawn(branch, len(branch.rows)))
        return Reorder(name, self._chosen(branch))

    def split(self) -> Step | None:
        source = self._one(self._names(batch=True))
        if source is None or self._full():
            return None
        return Fork(self._fresh(), source, self._chosen(self.branches.live[source]))

    def _chosen(self, branch: Branch) -> tuple[int, ...]:
        return self._drawn(branch, self.rng.randint(1, ROWS))

    def _drawn(self, branch: Branch, count: int) -> tuple[int, ...]:
        return tuple(self.rng.randrange(len(branch.rows)) for _ in range(count))

    def merge(self) -> Step | None:
        names = self._names(batch=True)
        if len(names) < 2:
            return None
        left, right = self.rng.sample(names, 2)
        rows = len(self.branches.live[left].rows) + len(self.branches.live[right].rows)
        return Merge(self._fresh(), (left, right)) if rows <= 2 * ROWS else None


_KINDS: dict[str, Callable[[_Writer], Step | None]] = {
    "fork": _Writer.fork,
    "new": _Writer.new,
    "batch": _Writer.new_batch,
    "crop": _Writer.crop,
    "save": _Writer.save,
    "reset": _Writer.reset,
    "release": _Writer.release,
    "reorder": _Writer.reorder,
    "split": _Writer.split,
    "merge": _Writer.merge,
}
