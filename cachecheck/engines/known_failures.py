"""The ledger of what is known to fail in an engine: a file in its folder, read here.

An entry is *tolerated* (run, and reported once it passes) or *quarantined* (never run: it hangs, or
takes its process with it). Each says what goes wrong, in which versions it was met, which finding
shows it without cachecheck, and where it was reported in public, if it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Annotated, Literal

import msgspec

from cachecheck.engines.registry import engine_named
from cachecheck.errors import InputError
from cachecheck.files import Stored

Failure = tuple[str, str, str, str]
"""Architecture, variant, law and answer of one cell."""

_Text = Annotated[str, msgspec.Meta(min_length=1)]
_Texts = Annotated[tuple[_Text, ...], msgspec.Meta(min_length=1)]


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One known failure.

    Attributes:
        id: its name.
        kind: see the module.
        architectures: that show it; ``*`` for all, as below.
        variants: of them.
        laws: ids of the laws that it breaks.
        answers: the law's answers.
        symptom: what goes wrong, in one sentence.
        versions: of the library, in which it was met.
        finding: folder under ``evidence/findings``; empty where there is none.
        judgement: empty for what is no violation.
        report: address of a public report; empty where none is known.
        seldom: few cases meet it, so that it passes now only if none of its architectures shows it.
    """

    id: _Text
    kind: Literal["tolerated", "quarantined"]
    architectures: _Texts
    variants: _Texts
    laws: _Texts
    answers: Annotated[
        tuple[Literal["VIOLATED", "ERROR", "INCONCLUSIVE"], ...], msgspec.Meta(min_length=1)
    ]
    symptom: _Text
    versions: _Texts
    finding: str = ""
    judgement: Literal["", "bug", "documented limit"] = ""
    report: str = ""
    seldom: bool = False

    def __post_init__(self) -> None:
        """Refuse an accusation that nobody could check."""
        if "VIOLATED" in self.answers and not (self.finding and self.judgement):
            raise ValueError(f"entry {self.id!r} is of a violation: give its finding and judgement")

    def covers(self, architecture: str, variant: str, law: str) -> bool:
        """True for a cell that the entry is about, whatever its answer."""
        return all(
            one in mine or "*" in mine
            for one, mine in (
                (architecture, self.architectures),
                (variant, self.variants),
                (law, self.laws),
            )
        )

    def explains(self, failure: Failure) -> bool:
        """True for a cell that the entry is about, with one of its answers."""
        return self.covers(*failure[:3]) and failure[3] in self.answers


@dataclass(frozen=True)
class Ledger:
    """All that is known to fail in one engine; entries are tried in order."""

    entries: tuple[Entry, ...] = ()

    def __post_init__(self) -> None:
        """Refuse two entries of one name."""
        names = [entry.id for entry in self.entries]
        twice = [name for at, name in enumerate(names) if name in names[:at]]
        if twice:
            raise ValueError(f"entry {twice[0]!r} is there twice")

    def explaining(self, failure: Failure) -> Entry | None:
        """The first entry that explains a cell."""
        return next((entry for entry in self.entries if entry.explains(failure)), None)

    def quarantined(self, architecture: str) -> tuple[tuple[str, str], ...]:
        """(variant, law) pairs that are not to be run for an architecture; ``*`` stands for all."""
        return tuple(
            (variant, law)
            for entry in self.entries
            if entry.kind == "quarantined" and {architecture, "*"} & set(entry.architectures)
            for variant in entry.variants
            for law in entry.laws
        )

    def stale(self, cells: Sequence[Failure]) -> list[tuple[Entry, str]]:
        """Tolerated entries, and the architectures among their own that pass now."""
        found = []
        for entry in self.entries:
            if entry.kind != "tolerated":
                continue
            own = [cell for cell in cells if entry.covers(*cell[:3])]
            failing = {cell[0] for cell in own if cell[3] in entry.answers}
            passing = dict.fromkeys(cell[0] for cell in own if cell[0] not in failing)
            if failing and (entry.seldom or "*" in entry.architectures):
                continue  # it says that some fail, not that each does
            found += [(entry, architecture) for architecture in passing]
        return found


LEDGER = Stored("ledger of known failures", 1, Ledger)


def load_ledger(library: str) -> Ledger:
    """The ledger of the engine for a library; empty for an engine that has none.

    Raises:
        InputError: no such engine, or a ledger that cannot be read.
    """
    place = engine_named(library).known_failures
    if not place:
        return Ledger()
    package, _, name = place.partition(":")
    try:
        data = resources.files(package).joinpath(name).read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {name} of {package}: {error.strerror}") from error
    return LEDGER.decode(data, f"{name} of {package}")
