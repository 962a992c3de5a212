"""The ledger of what is known to fail in other people's engines: data, one file for each library.

An entry is *tolerated* (run, and told loudly once it passes) or *quarantined* (never run: it hangs,
or takes its process with it). Each says what was seen, in which versions, which finding shows it
without cachecheck, and where it was reported in public, if it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from cachecheck.errors import InputError

TOLERATED, QUARANTINED = "tolerated", "quarantined"
JUDGEMENTS = ("bug", "documented limit")
_FIELDS = ("id", "kind", "architectures", "variants", "laws", "answers", "seen", "versions")
_OPTIONAL = ("finding", "judgement", "report", "seldom")

Failure = tuple[str, str, str, str]
"""Architecture, variant, law and answer of one cell."""


@dataclass(frozen=True)
class Entry:
    """One thing that is known.

    Attributes:
        id: its name.
        kind: ``tolerated`` or ``quarantined``.
        architectures: model types; ``*`` for all, as below.
        variants: how they were run.
        laws: ids of the laws that it breaks.
        answers: what they answered: VIOLATED, ERROR or INCONCLUSIVE.
        seen: in one sentence.
        versions: of the library, in which it was seen.
        finding: folder under ``evidence/findings``; empty where there is none.
        judgement: one of `JUDGEMENTS`; empty for what is no violation.
        report: address of a public report; empty where none is known.
        seldom: few cases meet it, so that it passes now only if none of its architectures shows it.
    """

    id: str
    kind: str
    architectures: tuple[str, ...]
    variants: tuple[str, ...]
    laws: tuple[str, ...]
    answers: tuple[str, ...]
    seen: str
    versions: tuple[str, ...]
    finding: str = ""
    judgement: str = ""
    report: str = ""
    seldom: bool = False

    def names(self, architecture: str, variant: str, law: str) -> bool:
        """Whether this cell is among its own."""
        return all(
            one in mine or "*" in mine
            for one, mine in (
                (architecture, self.architectures),
                (variant, self.variants),
                (law, self.laws),
            )
        )

    def explains(self, failure: Failure) -> bool:
        """Whether this is what that cell shows."""
        architecture, variant, law, answer = failure
        return self.names(architecture, variant, law) and answer in self.answers


@dataclass(frozen=True)
class Ledger:
    """All entries for one library."""

    entries: tuple[Entry, ...]

    def explaining(self, failure: Failure) -> Entry | None:
        """The first entry that explains a cell."""
        return next((entry for entry in self.entries if entry.explains(failure)), None)

    def quarantined(self, architecture: str) -> tuple[tuple[str, str], ...]:
        """(variant, law) pairs that are not to be run for an architecture; ``*`` stands for all."""
        return tuple(
            (variant, law)
            for entry in self.entries
            if entry.kind == QUARANTINED and {architecture, "*"} & set(entry.architectures)
            for variant in entry.variants
            for law in entry.laws
        )

    def stale(self, cells: Sequence[Failure]) -> list[tuple[Entry, str]]:
        """Tolerated entries, and the architectures among their own that pass now."""
        found = []
        for entry in self.entries:
            if entry.kind != TOLERATED:
                continue
            own = [cell for cell in cells if entry.names(*cell[:3])]
            failing = {cell[0] for cell in own if cell[3] in entry.answers}
            passing = dict.fromkeys(cell[0] for cell in own if cell[0] not in failing)
            if failing and (entry.seldom or "*" in entry.architectures):
                continue  # it says that some fail, not that each does
            found += [(entry, architecture) for architecture in passing]
        return found


def load_ledger(library: str) -> Ledger:
    """The ledger for a library that has one.

    Raises:
        InputError: no such ledger, or an entry that lacks something.
    """
    file = resources.files(__name__).joinpath(f"{library}.json")
    if not file.is_file():
        raise InputError(f"no ledger of known failures for {library!r}")
    return read_ledger(json.loads(file.read_text(encoding="utf-8")), f"{library}.json")


def read_ledger(data: Iterable[dict[str, Any]], name: str) -> Ledger:
    """A ledger from plain data.

    Raises:
        InputError: an entry that lacks something, has something unknown, or comes twice.
    """
    entries: dict[str, Entry] = {}
    for raw in data:
        label = f"{name}: entry {raw.get('id', '(without an id)')!r}"
        lacking = [field for field in _FIELDS if not raw.get(field)]
        unknown = [field for field in raw if field not in (*_FIELDS, *_OPTIONAL)]
        if lacking or unknown:
            raise InputError(f"{label} {'lacks' if lacking else 'has an unknown'} "
                             f"{', '.join(lacking or unknown)}")  # fmt: skip
        given: dict[str, Any] = {
            field: tuple(value) if isinstance(value, list) else value
            for field, value in raw.items()
        }
        entry = Entry(**given)
        if entry.kind not in (TOLERATED, QUARANTINED):
            raise InputError(f"{label} is neither {TOLERATED} nor {QUARANTINED}")
        if "VIOLATED" in entry.answers and not (entry.finding and entry.judgement in JUDGEMENTS):
            raise InputError(f"{label} needs a finding, and a judgement of {', '.join(JUDGEMENTS)}")
        if entry.id in entries:
            raise InputError(f"{label} is there twice")
        entries[entry.id] = entry
    return Ledger(tuple(entries.values()))
