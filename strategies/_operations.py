"""The operations of a program: what each could act on, and the step that it makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import permutations

from hypothesis.strategies import DrawFn

from cachecheck.schedule import (
    FIRST,
    Branches,
    Crop,
    Fork,
    Merge,
    New,
    Release,
    Reorder,
    Reset,
    Save,
    Step,
    branch_name,
)
from cachecheck.strategies._draws import chance, number

BRANCHES, ROWS = 4, 4
"""Most live branches at a time, and rows of a batch."""

_BACK = (0, 1, 1, 2, 3)
"""Tokens taken back: none, as where a draft is accepted whole; a few, as where its end is not."""

On = tuple[str, ...]
"""The branches that an operation acts on: none, one, or two to merge."""


@dataclass
class Live:
    """The branches of a program as it is written; those of one sequence may be left alone."""

    batches_alone: bool
    branches: Branches = field(default_factory=Branches)

    def names(self, *, batch: bool | None = None) -> list[str]:
        """Live branches, of one kind if asked."""
        return [
            name
            for name, branch in self.branches.live.items()
            if batch in (None, branch.batch) and not (self.batches_alone and name == FIRST)
        ]

    def each(self, *, batch: bool | None = None, least: int = 0) -> list[On]:
        """Each of `names` that holds ``least`` tokens or more."""
        return [(name,) for name in self.names(batch=batch) if self.length(name) >= least]

    def length(self, name: str) -> int:
        """Tokens in the longest row of a branch."""
        return self.branches.live[name].length

    def rows(self, *names: str) -> int:
        """Rows of these branches together."""
        return sum(len(self.branches.live[name].rows) for name in names)

    @property
    def full(self) -> bool:
        """True if there can be no branch more."""
        return len(self.branches.live) >= BRANCHES

    @property
    def fresh(self) -> str:
        """The name of the next new branch."""
        return branch_name(len(self.branches.live) + len(self.branches.ended))


@dataclass(frozen=True)
class Kind:
    """A kind of operation.

    Attributes:
        fits: what it could act on now; empty where it does not fit.
        step: acting on one of these; what is open about it is drawn.
    """

    fits: Callable[[Live], list[On]]
    step: Callable[[DrawFn, Live, On], Step]


def new_batch(draw: DrawFn, live: Live, _on: On = ()) -> Step:
    """A batch of empty rows."""
    return New(live.fresh, number(draw, 1, ROWS))


def _crop(draw: DrawFn, live: Live, on: On) -> Step:
    """Any number of tokens is kept in a sixth of the cases, else a few less than there are."""
    held = live.length(on[0])
    drawn = number(draw, 1, 6 * held)
    kept = drawn if drawn <= held else held - _BACK[drawn % len(_BACK)]
    return Crop(on[0], max(1, kept))


def _filled(live: Live) -> list[On]:
    """Batches, empty ones only if there are no others: there is nothing to move in them."""
    return live.each(batch=True, least=1) or live.each(batch=True)


def _reorder(draw: DrawFn, live: Live, on: On) -> Step:
    """Half of them keep the number of rows, as every one of a beam search does."""
    there = live.rows(*on)
    count = there if chance(draw, 50) else number(draw, 1, ROWS)
    return Reorder(on[0], _chosen(draw, there, count))


def _split(draw: DrawFn, live: Live, on: On) -> Step:
    return Fork(live.fresh, on[0], _chosen(draw, live.rows(*on), number(draw, 1, ROWS)))


def _chosen(draw: DrawFn, there: int, count: int) -> tuple[int, ...]:
    """Rows of a batch, any of them repeated or left out."""
    return tuple(number(draw, 0, there - 1) for _ in range(count))


def _pairs(live: Live) -> list[On]:
    """Batches that can be merged, in either order."""
    pairs = permutations(live.names(batch=True), 2)
    return [pair for pair in pairs if live.rows(*pair) <= 2 * ROWS]


KINDS: dict[str, Kind] = {
    "fork": Kind(
        lambda live: [] if live.full else live.each(),
        lambda _, live, on: Fork(live.fresh, on[0]),
    ),
    "new": Kind(
        lambda live: [] if live.full or live.batches_alone else [()],
        lambda _, live, _on: New(live.fresh),
    ),
    "crop": Kind(lambda live: live.each(batch=False, least=2), _crop),
    "save": Kind(lambda live: live.each(batch=False), lambda _, _live, on: Save(on[0])),
    "reset": Kind(lambda live: live.each(batch=False), lambda _, _live, on: Reset(on[0])),
    "release": Kind(
        lambda live: live.each() if len(live.names()) > 1 else [],
        lambda _, _live, on: Release(on[0]),
    ),
    "batch": Kind(lambda live: [] if live.full else [()], new_batch),
    "reorder": Kind(_filled, _reorder),
    "split": Kind(lambda live: [] if live.full else live.each(batch=True), _split),
    "merge": Kind(_pairs, lambda _, live, on: Merge(live.fresh, (on[0], on[1]))),
}
"""The operations of a program besides calls, plainest first; ``batch`` is to begin a new one."""
