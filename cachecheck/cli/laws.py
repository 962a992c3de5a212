"""``cachecheck laws``: what must hold."""

from __future__ import annotations

import argparse

from cachecheck.cli.values import Commands


def add(commands: Commands) -> None:
    """The command."""
    laws = commands.add_parser(
        "laws",
        help="the laws: what must hold, and all that is known of one",
        description="List the laws, a line each. With names, tell all that is known of those: what "
        "must hold, why, what it does not claim, the members of a decoder that it needs, the laws "
        "that follow from it and from which it follows, the faults that it catches, the kinds of "
        "public reports behind them, and a command that shows it broken.",
        epilog="exit codes: 0 listed, 2 no such law",
    )
    laws.add_argument("names", nargs="*", metavar="NAME", help="tell all about these laws only")
    laws.add_argument(
        "--members",
        action="store_true",
        help="list what a decoder may offer beyond the three functions; each unlocks laws",
    )
    laws.set_defaults(command=_laws)


def _laws(parsed: argparse.Namespace) -> int:
    from rich.console import Console

    from cachecheck.commands.laws import run

    return run(parsed.names, members=parsed.members, console=Console())
