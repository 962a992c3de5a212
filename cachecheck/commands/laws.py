"""``cachecheck laws``: the laws in short, some of them in full, or the members that unlock them."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from rich.console import Console

from cachecheck.errors import InputError
from cachecheck.laws import LAWS, Law
from cachecheck.report.laws import print_law, print_laws, print_members


def run(names: Sequence[str], *, members: bool, console: Console) -> int:
    """Print what was asked for; return the exit code.

    Args:
        names: of laws to tell all about; none for the short table.
        members: list the members of a decoder in place of laws.
        console: where to.

    Raises:
        InputError: an unknown law, or laws and members at once.
    """
    if names and members:
        raise InputError("--members lists the members of a decoder; give it without names of laws")
    laws = [law_named(name) for name in names]
    if members:
        print_members(console)
    elif laws:
        for law in laws:
            print_law(console, law)
    else:
        print_laws(console)
    return 0


def law_named(name: str) -> Law:
    """The law of that name.

    Raises:
        InputError: there is none; the nearest names are given.
    """
    if name not in LAWS:
        near = get_close_matches(name, LAWS)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise InputError(f"unknown law {name!r}{hint} (cachecheck laws lists them)")
    return LAWS[name]
