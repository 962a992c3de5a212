"""The laws for people: a line each, or a page on one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console

from cachecheck.faults import FAULTS, KINDS, Fault, Kind
from cachecheck.laws import LAWS, Law
from cachecheck.members import CAPABILITIES
from cachecheck.report.entries import columns, entry, wrapped
from cachecheck.report.terminal import print_plain


@dataclass(frozen=True)
class LawPage:
    """All that is known of one law, for any renderer.

    Attributes:
        law: the law itself.
        needs: the members that it takes beyond the three functions; empty for none.
        follows_from: the laws that it follows from, each with the reason.
        faults: those of the catalogue that name it as the law that catches them.
        kinds: of public reports that these faults stand for.
        example: a command that shows it broken by the first of the faults; empty for none.
    """

    law: Law
    needs: str
    follows_from: tuple[tuple[str, str], ...]
    faults: tuple[Fault, ...]
    kinds: tuple[Kind, ...]
    example: str


def law_page(law: Law) -> LawPage:
    """All that is known of ``law``."""
    stronger = [(one.id, one.implies[law.id]) for one in LAWS.values() if law.id in one.implies]
    faults = tuple(fault for fault in FAULTS.values() if fault.law == law.id)
    kinds = dict.fromkeys(fault.kind for fault in faults)
    return LawPage(
        law=law,
        needs=needs(law),
        follows_from=tuple(stronger),
        faults=faults,
        kinds=tuple(KINDS[name] for name in kinds),
        example=f"cachecheck fuzz reference --fault {faults[0].id} --law {law.id}"
        if faults
        else "",
    )


def needs(law: Law) -> str:
    """The members that it takes beyond the three functions, as a reader writes them."""
    named = [CAPABILITIES[name].members if name in CAPABILITIES else name for name in law.needs]
    return ", ".join(named)


def print_laws(console: Console) -> None:
    """Each law in a line or two, and how to see more."""
    for law in LAWS.values():
        print_plain(console, "\n".join(wrapped(law.statement, f"{law.id:<14}", " " * 14)))
    print_plain(
        console,
        f"\n{len(LAWS)} laws. All about one: cachecheck laws NAME\n"
        "What a decoder may offer, and so unlock: cachecheck laws --members",
    )


def print_members(console: Console) -> None:
    """Every optional member of a decoder, and what it promises or allows."""
    print_plain(console, "What a decoder may offer beyond the three functions:\n")
    for one in CAPABILITIES.values():
        print_plain(console, "\n".join([f"  {one.members}", *wrapped(one.meaning, " " * 6)]))


def print_law(console: Console, law: Law) -> None:
    """A page on one law."""
    page = law_page(law)
    lines = [
        law.id,
        *wrapped(law.statement, "  "),
        "",
        *entry("why", law.reason),
        *entry("not claimed", law.not_claimed),
        *entry("needs", page.needs or "nothing beyond the three functions"),
        *entry("what follows", *_reasons(law.implies.items())),
        *entry("follows from", *_reasons(page.follows_from)),
        *entry("faults", counted(page)),
        *columns([(fault.smallest, fault.id) for fault in page.faults]),
        *entry("reports", *(reports(kind) for kind in page.kinds)),
        *entry("see it broken", *filter(None, [page.example])),
    ]
    print_plain(console, "\n".join([*lines, ""]))


def counted(page: LawPage) -> str:
    """The number of faults of the catalogue that name the law."""
    if not page.faults:
        stronger = " or ".join(name for name, _ in page.follows_from)
        return f"none of the {len(FAULTS)} in the catalogue names it; those nearest name {stronger}"
    return (
        f"{len(page.faults)} of the {len(FAULTS)} in the catalogue name this law, each with the "
        "smallest schedule that shows it:"
    )


def reports(kind: Kind) -> str:
    """A kind of mistake, with the number of its public reports."""
    number = f"{len(kind.reports)} public report{'' if len(kind.reports) == 1 else 's'}"
    return f"{kind.id}, {number}: {kind.mistake}"


def _reasons(laws: Iterable[tuple[str, str]]) -> list[str]:
    """Laws with why the one follows from the other."""
    return [f"{name}: {reason}" for name, reason in laws]
