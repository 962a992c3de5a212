"""The tokens that every branch should hold: plain lists, updated step by step.

This is the whole model of a cache that the laws compare decoders with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from cachecheck.errors import InputError
from cachecheck.schedule.steps import (
    FIRST,
    Append,
    Crop,
    Fork,
    Merge,
    New,
    Release,
    Reorder,
    Reset,
    Save,
    Step,
)

Tokens = tuple[int, ...]


@dataclass(frozen=True)
class Branch:
    """The tokens of one sequence, or of the rows of a batch."""

    rows: tuple[Tokens, ...]
    batch: bool = False

    @property
    def length(self) -> int:
        """Tokens in the longest row."""
        return max(map(len, self.rows))


_EMPTY = Branch(((),))


@dataclass
class Branches:
    """The live branches by name."""

    live: dict[str, Branch] = field(default_factory=lambda: {FIRST: _EMPTY})
    ended: set[str] = field(default_factory=set)

    def apply(self, step: Step, tokens: Sequence[int] = ()) -> None:
        """Apply one step; ``tokens`` are an append's new ones, row after row.

        Raises:
            InputError: the step does not fit what is there. Nothing has changed then.
        """
        match step:
            case New(branch, rows):
                self._check_free(branch)
                if rows is not None and rows < 1:
                    raise InputError(f"a batch has at least one row; got {rows}")
                self.live[branch] = _EMPTY if rows is None else Branch(((),) * rows, batch=True)
            case Fork(branch, source, rows):
                old = self._branch(source)
                self._check_free(branch)
                self.live[branch] = old if rows is None else self._with_rows(source, rows)
            case Release(branch):
                self._end(branch)
            case Merge():
                self._merge(step)
            case _:
                self.live[step.branch] = self._branch_after(step, tokens)

    def _branch_after(
        self, step: Append | Crop | Save | Reset | Reorder, tokens: Sequence[int]
    ) -> Branch:
        """The step's own branch after the step."""
        name = step.branch
        match step:
            case Append():
                return self._appended(step, tokens)
            case Crop(length=length):
                (row,) = self._single(name).rows
                if not 0 <= length <= len(row):
                    raise InputError(f"branch {name} holds {len(row)} tokens; got crop{length}")
                return Branch((row[:length],))
            case Reorder(rows=rows):
                return self._with_rows(name, rows)
            case Reset():
                self._single(name)
                return _EMPTY
            case Save():
                return self._single(name)

    def _appended(self, step: Append, tokens: Sequence[int]) -> Branch:
        branch = self._branch(step.branch)
        if len(step.sizes) != len(branch.rows) or min(step.sizes) < 1:
            kind = f"a batch of {len(branch.rows)}" if branch.batch else "one sequence"
            raise InputError(
                f"branch {step.branch} is {kind}: a call gives each row at least one token; "
                f"got {step.text()}"
            )
        rows, at = [], 0
        for row, size in zip(branch.rows, step.sizes, strict=True):
            rows.append(row + tuple(tokens[at : at + size]))
            at += size
        return Branch(tuple(rows), branch.batch)

    def _merge(self, step: Merge) -> None:
        left, right = step.sources
        if left == right:
            raise InputError(f"a batch cannot be merged with itself; got {step.text()}")
        rows = self._batch(left).rows + self._batch(right).rows
        if step.branch not in step.sources:
            self._check_free(step.branch)
        self._end(left)
        self._end(right)
        self.live[step.branch] = Branch(rows, batch=True)

    def _with_rows(self, name: str, rows: Sequence[int]) -> Branch:
        there = self._batch(name).rows
        if not rows or min(rows) < 0 or max(rows) >= len(there):
            raise InputError(f"branch {name} has rows 0 to {len(there) - 1}; got {list(rows)}")
        return Branch(tuple(there[row] for row in rows), batch=True)

    def _branch(self, name: str) -> Branch:
        if name not in self.live:
            ended = "has ended" if name in self.ended else "does not exist"
            raise InputError(
                f"branch {name} {ended}; live branches: {', '.join(self.live) or 'none'}"
            )
        return self.live[name]

    def _single(self, name: str) -> Branch:
        branch = self._branch(name)
        if branch.batch:
            raise InputError(f"branch {name} is a batch; expected a single sequence")
        return branch

    def _batch(self, name: str) -> Branch:
        branch = self._branch(name)
        if not branch.batch:
            raise InputError(f"branch {name} is a single sequence; expected a batch")
        return branch

    def _check_free(self, name: str) -> None:
        if name in self.live or name in self.ended:
            raise InputError(f"branch {name} exists already; give each branch a name of its own")

    def _end(self, name: str) -> None:
        self._branch(name)
        del self.live[name]
        self.ended.add(name)
