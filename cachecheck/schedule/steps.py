"""The steps of a schedule, as plain data: each is one call to the decoder.

Every step acts on a branch: a live cache with a name. Branch ``a`` is there from the start, empty.
A branch holds one sequence, or several as a batch.
"""

from __future__ import annotations

from dataclasses import dataclass

FIRST = "a"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def branch_name(number: int) -> str:
    """The name of a branch by the order of its creation: a, b, ... z, a1, b1, ..."""
    again, letter = divmod(number, len(_LETTERS))
    return _LETTERS[letter] + (str(again) if again else "")


def branch_number(name: str) -> int:
    """The inverse of `branch_name`."""
    return _LETTERS.index(name[0]) + len(_LETTERS) * int(name[1:] or 0)


@dataclass(frozen=True)
class Append:
    """New tokens in one call: ``5``, or ``2/1/4`` for the rows of a batch."""

    branch: str
    sizes: tuple[int, ...]

    operation = "append"

    def text(self) -> str:
        """The notation of the step, without its branch."""
        return "/".join(map(str, self.sizes))


@dataclass(frozen=True)
class New:
    """A new empty cache, or a batch of so many empty rows."""

    branch: str
    rows: int | None = None

    operation = "new"

    def text(self) -> str:
        """The notation of the step, without its branch."""
        return "new" if self.rows is None else f"new*{self.rows}"


@dataclass(frozen=True)
class Fork:
    """An independent copy of ``source``, or of some rows of a batch: those are split off."""

    branch: str
    source: str
    rows: tuple[int, ...] | None = None

    @property
    def operation(self) -> str:
        """``fork``, or ``split`` where rows are chosen."""
        return "fork" if self.rows is None else "split"

    def text(self) -> str:
        """The notation of the step, without its branch."""
        return self.source + ("" if self.rows is None else _indices(self.rows))


@dataclass(frozen=True)
class Crop:
    """Roll back: the first ``length`` tokens remain."""

    branch: str
    length: int

    operation = "crop"

    def text(self) -> str:
        """The notation of the step, without its branch."""
        return f"crop{self.length}"


@dataclass(frozen=True)
class Save:
    """Save the cache and go on from what is loaded again."""

    branch: str

    operation = "save"

    def text(self) -> str:
        """The notation of the step, without its branch."""
        return "save"


@dataclass(frozen=True)
class Reset:
    """Empty the cache, to be used again."""

    branch: str

    operation = "reset"

    def text(self) -> str:
        """The notation of the step, without its branch."""
        return "reset"


@dataclass(frozen=True)
class Release:
    """The branch ends: its cache will not be used again."""

    branch: str

    operation = "release"

    def text(self) -> str:
        """The notation of the step, without its branch."""
        return "release"


@dataclass(frozen=True)
class Reorder:
    """Rows of a batch put in another order, repeated or left out, as a beam search does."""

    branch: str
    rows: tuple[int, ...]

    operation = "reorder"

    def text(self) -> str:
        """The notation of the step, without its branch."""
        return _indices(self.rows)


@dataclass(frozen=True)
class Merge:
    """The rows of two batches in one; both end."""

    branch: str
    sources: tuple[str, str]

    operation = "merge"

    def text(self) -> str:
        """The notation of the step, without its branch."""
        return "&".join(self.sources)


Step = Append | New | Fork | Crop | Save | Reset | Release | Reorder | Merge

OPERATIONS = (
    "append",
    "new",
    "fork",
    "crop",
    "save",
    "reset",
    "release",
    "split",
    "reorder",
    "merge",
)
"""Names of what a step can do, plainest first: smaller schedules use earlier ones."""


def sort_key(step: Step) -> tuple[int, ...]:
    """The order of steps by size: plainer ones, earlier branches and smaller numbers first."""
    numbers: tuple[int, ...]
    match step:
        case Append(sizes=sizes):
            numbers = sizes
        case New(rows=rows):
            numbers = (rows or 0,)
        case Fork(source=source, rows=chosen):
            numbers = (branch_number(source), *(chosen or ()))
        case Crop(length=length):
            numbers = (length,)
        case Reorder(rows=chosen):
            numbers = chosen
        case Merge(sources=sources):
            numbers = tuple(branch_number(name) for name in sources)
        case _:
            numbers = ()
    return (OPERATIONS.index(step.operation), branch_number(step.branch), *numbers)


def _indices(rows: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, rows))}]"
