"""The matrix of a zoo: on the terminal one letter a cell, as Markdown in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Console

from cachecheck.engines.engine import decoder_name
from cachecheck.engines.known_failures import Entry
from cachecheck.engines.registry import engine_named
from cachecheck.report.markdown import table
from cachecheck.report.terminal import print_plain
from cachecheck.zoo.cells import Cell, CellAnswer
from cachecheck.zoo.matrix import Matrix

_LETTERS: dict[CellAnswer, str] = {
    "HOLDS": "+",
    "VIOLATED": "V",
    "ERROR": "E",
    "INCONCLUSIVE": "?",
    "UNSUPPORTED": "u",
    "NOT BUILT": "-",
}
_LEGEND = "+ holds   V violated   E error   ? inconclusive   u unsupported   - not built or not run"
_SHOWN = 40
"""Cells that the ledger does not know, printed at most; the file has them all."""


_KEY = (
    "A cell shows the gravest answer over all variants: + holds, ? inconclusive, u unsupported, "
    "- not run. Behind VIOLATED and ERROR stand the variant, the smallest schedule and the entry "
    "of the ledger of known failures. The file beside this page has every variant, with its "
    "reasons."
)


def print_matrix(
    console: Console, matrix: Matrix, stale: Sequence[tuple[Entry, str]], entries: Sequence[Entry]
) -> None:
    """Architectures by laws, then what the letters stand for."""
    for line in _letters(matrix):
        print_plain(console, line)
    print_plain(console, "")
    for line in (*_known(matrix, entries), *_unknown(matrix), *_inconclusive(matrix)):
        print_plain(console, line)
    for name, reason in _not_built(matrix):
        print_plain(console, f"NOT BUILT  {name}: {reason}")
    for entry, architecture in stale:
        print_plain(console, f"PASSES NOW  {architecture}: known failure {entry.id} "
                    f"no longer shows; take it out of the ledger")  # fmt: skip
    print_plain(console, "")
    print_plain(console, summary(matrix))


def summary(matrix: Matrix) -> str:
    """One sentence of figures."""
    counts = ", ".join(f"{count} {answer}" for answer, count in matrix.counts.items())
    known = len([cell for cell in matrix.cells if cell.known])
    cut = (
        f"Interrupted: {matrix.missing} architectures were not reached. " if matrix.missing else ""
    )
    return (
        f"{cut}{len(matrix.built)} of {len(matrix.architectures)} architectures built, "
        f"{len(matrix.checked)} checked, in {matrix.seconds / 60:.1f} minutes: "
        f"{counts or 'nothing'}. {known} cells are in the ledger of known failures, "
        f"{len(matrix.unknown())} violations and errors are not."
    )


def _letters(matrix: Matrix) -> Iterator[str]:
    width = max((len(name) for name in matrix.architectures), default=0)
    tall = max((len(law) for law in matrix.laws), default=0)
    for row in range(tall):
        yield " " * (width + 2) + " ".join(law.rjust(tall)[row] for law in matrix.laws)
    worst = matrix.worst()
    for name in matrix.architectures:
        found = (worst.get((name, law)) for law in matrix.laws)
        letters = " ".join("-" if cell is None else _LETTERS[cell.answer] for cell in found)
        yield f"{name:{width}}  {letters}"
    yield ""
    yield _LEGEND


def _known(matrix: Matrix, entries: Sequence[Entry]) -> Iterator[str]:
    for entry in entries:
        cells = [cell for cell in matrix.cells if cell.known == entry.id]
        if cells:
            names = list(dict.fromkeys(cell.architecture for cell in cells))
            yield f"KNOWN  {entry.id} ({entry.judgement or entry.kind}): {entry.symptom}"
            yield f"       {len(cells)} cells of {_first_names(names)}"


def _unknown(matrix: Matrix) -> Iterator[str]:
    cells, prefix = matrix.unknown(), engine_named(matrix.library).prefix
    for cell in cells[:_SHOWN]:
        name = decoder_name(cell.architecture, cell.variant)
        yield f"{cell.answer}  {prefix}:{name} {cell.law}  {_description(cell)}"
    if len(cells) > _SHOWN:
        yield f"... and {len(cells) - _SHOWN} more; the file has them all"


def _inconclusive(matrix: Matrix) -> Iterator[str]:
    cells = matrix.unknown(("INCONCLUSIVE",))
    key = sorted(cells, key=lambda cell: cell.architecture)
    for name, group in groupby(key, key=lambda cell: cell.architecture):
        found = list(group)
        laws = ", ".join(dict.fromkeys(_law_and_variant(cell) for cell in found))
        yield f"INCONCLUSIVE  {name}: {laws}: {found[0].reason}"


def _not_built(matrix: Matrix) -> Iterator[tuple[str, str]]:
    built = set(matrix.built)
    for name in matrix.architectures:
        if name not in built:
            reason = next(cell.reason for cell in matrix.cells if cell.architecture == name)
            yield name, reason


def _law_and_variant(cell: Cell) -> str:
    return f"{cell.law} ({cell.variant})" if cell.variant else cell.law


def _description(cell: Cell) -> str:
    if cell.follows_from:
        return f"not searched: it implies {cell.follows_from}, which is broken"
    parts = [] if cell.schedule is None else [f"schedule {cell.schedule}"]
    if cell.difference is not None and cell.answer == "VIOLATED":
        parts.append(f"difference {cell.difference:.1e}, tolerance {cell.tolerance or 0:.1e}")
    return "; ".join([*parts, cell.reason])


def _first_names(names: Sequence[str], most: int = 6) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def markdown(matrix: Matrix, entries: Sequence[Entry], findings: str = "") -> str:
    """The page of a whole matrix.

    Args:
        matrix: marked.
        entries: of the ledger; those that were not met are left out.
        findings: where their folders are, seen from the page; empty where they are not there.
    """
    versions = ", ".join(f"{name} {number}" for name, number in matrix.versions.items())
    head, worst, built = ["architecture", *matrix.laws], matrix.worst(), set(matrix.built)
    rows = [
        [name, *(_page_cell(worst.get((name, law))) for law in matrix.laws)]
        for name in matrix.architectures
        if name in built
    ]
    met = {cell.known for cell in matrix.cells}
    found = [
        [entry.id, entry.judgement, entry.symptom, _link(entry, findings)]
        for entry in entries
        if entry.id in met
    ]
    parts = [
        f"# {matrix.library}: architectures by laws",
        f"{matrix.settings}. {versions}.",
        summary(matrix),
        _KEY,
        table(head, rows),
        "## Known failures",
        table(["entry", "judgement", "symptom", "finding"], found),
        "## Inconclusive",
        "\n".join(f"- {line}" for line in _inconclusive(matrix)) or "None.",
        "## Not built",
        "\n".join(f"- {name}: {reason}" for name, reason in _not_built(matrix)) or "None.",
    ]
    return "\n\n".join(parts) + "\n"


def _page_cell(cell: Cell | None) -> str:
    if cell is None:
        return "-"
    if cell.answer not in ("VIOLATED", "ERROR"):
        return _LETTERS[cell.answer]
    schedule = f"`{cell.schedule}`" if cell.schedule else ""
    return " ".join(filter(None, (cell.answer, cell.variant, schedule, cell.known)))


def _link(entry: Entry, findings: str) -> str:
    if not (entry.finding and findings):
        return entry.finding
    return f"[{entry.finding}]({findings}/{entry.finding}/finding.md)"
