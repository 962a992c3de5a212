"""The laws for people: one paragraph each."""

from __future__ import annotations

import textwrap

from rich.console import Console

from cachecheck.laws import LAWS, Law
from cachecheck.members import CAPABILITIES
from cachecheck.report.terminal import print_plain

_WIDTH = 96


def needs(law: Law) -> str:
    """The members that it takes beyond the three functions, as a reader writes them."""
    named = [CAPABILITIES[name].members if name in CAPABILITIES else name for name in law.needs]
    return ", ".join(named)


def implications(law: Law) -> str:
    """The laws that follow from it, each with the reason."""
    return "; ".join(f"{name}: {reason}" for name, reason in law.implies.items())


def print_laws(console: Console) -> None:
    """Every law with all that is known of it, then the members of a decoder."""
    for law in LAWS.values():
        lines = [law.id, *_paragraph("", law.statement), *_paragraph("why", law.reason)]
        lines += _paragraph("not claimed", law.not_claimed)
        lines += _paragraph("needs", needs(law)) if law.needs else []
        lines += _paragraph("implies", implications(law)) if law.implies else []
        print_plain(console, "\n".join([*lines, ""]))
    print_plain(console, "What a decoder may offer beyond the three functions:\n")
    for one in CAPABILITIES.values():
        print_plain(console, "\n".join([f"  {one.members}", *_paragraph("", one.meaning)]))


def _paragraph(label: str, text: str) -> list[str]:
    begin = f"  {label + ': ' if label else '  '}"
    return textwrap.wrap(
        text, _WIDTH, initial_indent=begin, subsequent_indent="    ", break_on_hyphens=False
    )
