"""The coverage of a long run: a table of the calls of each class of past and chunk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from cachecheck.schedule.coverage import CHUNKS, PASTS, WINDOWS, from_pairs
from cachecheck.verdict import Verdict


def print_coverage(console: Console, verdicts: Sequence[Verdict]) -> None:
    """A table of calls by past and chunk, a line on the window, and the rate."""
    covered = sum((from_pairs(one.covered) for one in verdicts), Counter())
    if not covered:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column("calls by past")
    for chunk in CHUNKS:
        table.add_column(f"chunk {chunk}", justify="right")
    for past in PASTS:
        row = [sum(covered[past, chunk, window] for window in WINDOWS) for chunk in CHUNKS]
        table.add_row(past, *(f"{count:,}" for count in row))
    console.print()
    console.print(table)
    by_window = {
        window: sum(count for (*_, where), count in covered.items() if where == window)
        for window in WINDOWS
    }
    named = ", ".join(f"{window} {count:,}" for window, count in by_window.items() if count)
    console.print(f"calls by window: {named}", highlight=False)
    examples = sum(one.examples for one in verdicts)
    seconds = sum(one.seconds for one in verdicts)
    rate = f"{examples / seconds:.0f} a second" if seconds else "at once"
    console.print(f"{examples:,} examples, {rate}", highlight=False)
