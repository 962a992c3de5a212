"""The catalogue of faults for people: a line each, or a page on one."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from cachecheck.faults import FAULTS, KINDS, Fault
from cachecheck.laws import LAWS, falls_with
from cachecheck.reference.caches import CACHE_KINDS
from cachecheck.report.entries import entry
from cachecheck.report.terminal import print_plain


def symptom(fault: Fault) -> str:
    """Its symptom, and when it strikes if that is not always."""
    when = f" ({fault.when[0].upper()}{fault.when[1:]}.)" if fault.when else ""
    return fault.symptom + when


def print_faults(console: Console, faults: Sequence[Fault]) -> None:
    """A row a fault, how many, and how to see more."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("fault", "law", "smallest", "symptom"):
        table.add_column(heading, no_wrap=heading in ("fault", "law"), overflow="fold")
    for fault in faults:
        table.add_row(fault.id, fault.law, fault.smallest, symptom(fault))
    if faults:
        console.print(table, markup=False)
    print_plain(
        console, f"{len(faults)} of {len(FAULTS)} faults. All about one: cachecheck faults ID"
    )


def print_fault(console: Console, fault: Fault) -> None:
    """A page on one fault."""
    kind = KINDS[fault.kind]
    like = [one.id for one in FAULTS.values() if one.kind == kind.id and one is not fault]
    more = falls_with(LAWS, [fault.law])
    host = f"reference:{fault.host}"
    entries = {
        "symptom": symptom(fault),
        "mechanism": f"{fault.mechanism}, of {host}: {CACHE_KINDS[fault.host]}",
        "kind": f"{kind.id}: {kind.mistake}",
        "reports": ", ".join(fault.reports) or f"none of it alone; {len(kind.reports)} of its kind",
        "of its kind": ", ".join(like) or "no other",
        "law": f"{fault.law}: {LAWS[fault.law].statement}",
        "broken too": f"{', '.join(more)} (where the decoder has what they need)" if more else "",
        "smallest": f"{fault.smallest}   (decoder seed 0, as certified)",
        "see it found": f"cachecheck fuzz reference --fault {fault.id}",
        "this case": f"cachecheck shrink fault:{fault.id} '{fault.smallest}' --law {fault.law}",
        "the right one": f"cachecheck fuzz {host} --law {fault.law}",
    }
    lines = [line for label, text in entries.items() if text for line in entry(label, text)]
    print_plain(console, "\n".join([fault.id, *lines, ""]))


def print_kinds(console: Console) -> None:
    """Every kind, its reports, and the faults that stand for it, or why there are none."""
    for kind in KINDS.values():
        faults = [fault.id for fault in FAULTS.values() if fault.kind == kind.id]
        lines = [
            kind.id,
            f"  what        {kind.mistake}",
            f"  reports     {', '.join(kind.reports)}",
            f"  faults      {', '.join(faults) or f'none: {kind.unmodelled}'}",
            "",
        ]
        print_plain(console, "\n".join(lines))
