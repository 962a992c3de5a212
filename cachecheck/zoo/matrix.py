"""The matrix of a zoo as a whole: its cells marked by the ledger, counted, written and read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cachecheck.engines.known_failures import Entry, Ledger
from cachecheck.errors import InputError
from cachecheck.files import write_whole
from cachecheck.zoo.cells import ANSWERS, FAILED, NOT_BUILT, Cell, CellAnswer, worst
from cachecheck.zoo.stored import ZOO, StoredCell, StoredZoo, cells_of, table_of


@dataclass
class Matrix:
    """Everything that a run found.

    Attributes:
        library: whose architectures these are.
        versions: of what took part.
        laws: ids, in order.
        cells: one for each architecture, variant and law, in the library's order.
        seconds: of the whole run.
        settings: of the run, in words.
        whole: false if an architecture, variant or law was left out, or the run interrupted.
        wanted: architectures asked for; more than are there where the run was interrupted.
    """

    library: str
    versions: Mapping[str, str]
    laws: tuple[str, ...]
    cells: list[Cell] = field(default_factory=list)
    seconds: float = 0.0
    settings: str = ""
    whole: bool = True
    wanted: int = 0

    @property
    def architectures(self) -> list[str]:
        """Every architecture with a cell, in order."""
        return list(dict.fromkeys(cell.architecture for cell in self.cells))

    @property
    def built(self) -> list[str]:
        """The architectures with a verdict other than NOT BUILT."""
        there = {cell.architecture for cell in self.cells if cell.answer != NOT_BUILT}
        return [name for name in self.architectures if name in there]

    @property
    def checked(self) -> list[str]:
        """The architectures that a law could be tried on, with whatever answer."""
        nothing = (NOT_BUILT, "UNSUPPORTED")
        there = {cell.architecture for cell in self.cells if cell.answer not in nothing}
        return [name for name in self.architectures if name in there]

    @property
    def missing(self) -> int:
        """The number of architectures that were asked for and not reached."""
        return max(0, self.wanted - len(self.architectures))

    @property
    def counts(self) -> dict[str, int]:
        """Cells by answer."""
        found = Counter(cell.answer for cell in self.cells)
        return {answer: found[answer] for answer in ANSWERS if found[answer]}

    def worst(self) -> dict[tuple[str, str], Cell]:
        """The gravest cell of an architecture under a law, over all variants."""
        here: dict[tuple[str, str], list[Cell]] = {}
        for cell in self.cells:
            here.setdefault((cell.architecture, cell.law), []).append(cell)
        return {place: worst(cells) for place, cells in here.items()}

    def marked(self, ledger: Ledger) -> Matrix:
        """The same, where each cell that the ledger explains names its entry."""
        return replace(self, cells=marked(self.cells, ledger))

    def unknown(self, answers: Sequence[CellAnswer] = FAILED) -> list[Cell]:
        """Cells with one of these answers that no entry of the ledger explains."""
        return [cell for cell in self.cells if cell.answer in answers and not cell.known]

    def stale(self, ledger: Ledger) -> list[tuple[Entry, str]]:
        """Entries of the ledger that pass now; only a whole run can tell."""
        if not self.whole:
            return []
        ran = [(c.architecture, c.variant, c.law, c.answer) for c in self.cells]
        return ledger.stale(ran)

    def write(self, folder: Path) -> Path:
        """Write ``LIBRARY.json``, see `stored`, whole or not at all.

        Raises:
            InputError: it cannot be written.
        """
        file = folder / f"{self.library}.json"
        runs, details = table_of(self.cells, self.laws)
        stored = StoredZoo(
            library=self.library,
            versions=dict(self.versions),
            settings=self.settings,
            whole=self.whole,
            wanted=self.wanted or len(self.architectures),
            seconds=round(self.seconds, 1),
            laws=self.laws,
            columns=StoredCell.__struct_fields__,
            details=details,
            runs=runs,
        )
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(file, ZOO.encode(stored, indent=1, depth=2))
        except OSError as error:
            raise InputError(f"cannot write {file}: {error.strerror}") from error
        return file


def marked(cells: Iterable[Cell], ledger: Ledger) -> list[Cell]:
    """The cells, each with the entry of the ledger that explains it, or none."""
    found = []
    for cell in cells:
        entry = ledger.explaining((cell.architecture, cell.variant, cell.law, cell.answer))
        found.append(cell.marked("" if entry is None else entry.id))
    return found


def read_matrix(file: Path) -> Matrix:
    """A matrix that `Matrix.write` wrote.

    Raises:
        InputError: it is not there, or something else.
    """
    stored = ZOO.read(file)
    return Matrix(
        stored.library,
        stored.versions,
        stored.laws,
        list(cells_of(stored)),
        stored.seconds,
        stored.settings,
        stored.whole,
        stored.wanted,
    )
