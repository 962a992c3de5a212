"""Pages on one thing in a terminal: labels at the left, wrapped text in a column beside them."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

WIDTH = 96
_LABEL = 15


def entry(label: str, *paragraphs: str) -> list[str]:
    """Lines with ``label`` once, and each paragraph wrapped beside it; none for no paragraph."""
    lines: list[str] = []
    for paragraph in paragraphs:
        head = "" if lines else label
        lines += wrapped(paragraph, f"  {head:<{_LABEL}}", " " * (_LABEL + 2))
    return lines


def columns(rows: Sequence[tuple[str, str]]) -> list[str]:
    """Two columns below an entry, the first as wide as it has to be."""
    width = max((len(first) for first, _ in rows), default=0)
    return [f"{'':<{_LABEL + 4}}{first:<{width}}   {second}" for first, second in rows]


def wrapped(text: str, first: str, others: str | None = None) -> list[str]:
    """``text`` in lines of at most `WIDTH`, behind an indent of the first and one of the others."""
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=first if others is None else others,
        break_on_hyphens=False,
        break_long_words=False,
    )
