"""The catalogue of faults for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from cachecheck.faults import FAULTS, KINDS, Fault
from cachecheck.report.terminal import print_plain


def symptom(fault: Fault) -> str:
    """Its symptom, and when it strikes if that is not always."""
    when = f" ({fault.when[0].upper()}{fault.when[1:]}.)" if fault.when else ""
    return fault.symptom + when


def print_faults(console: Console, faults: Sequence[Fault]) -> None:
    """A row a fault, and how many."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("fault", "law", "smallest", "symptom"):
        table.add_column(heading, no_wrap=heading in ("fault", "law"), overflow="fold")
    for fault in faults:
        table.add_row(fault.id, fault.law, fault.smallest, symptom(fault))
    if faults:
        console.print(table, markup=False)
    print_plain(console, f"{len(faults)} of {len(FAULTS)} faults")


def print_whole(console: Console, faults: Sequence[Fault]) -> None:
    """All that is known of each."""
    for fault in faults:
        kind = KINDS[fault.kind]
        lines = [
            fault.id,
            f"  symptom     {symptom(fault)}",
            f"  mechanism   {fault.mechanism}, of reference:{fault.host}",
            f"  kind        {kind.id}: {kind.mistake}",
            f"  reports     {', '.join(fault.reports) or 'none of it alone'}",
            f"  law         {fault.law}",
            f"  smallest    {fault.smallest}   (decoder seed 0, as certified)",
            f"  see it      cachecheck fuzz reference --fault {fault.id}",
            "",
        ]
        print_plain(console, "\n".join(lines))


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
