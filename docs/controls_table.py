"""The controls as a markdown table, for whoever wants to read them."""

from __future__ import annotations

from benchmarks.controls import CONTROLS


def controls_table() -> str:
    """One row a control: what it looks like, and why it is right."""
    head = ("control", "looks like", "why it is right")
    rows = [(f"`{one.id}`", one.looks_like, one.why_right) for one in CONTROLS.values()]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ("---",) * 3, *rows))
