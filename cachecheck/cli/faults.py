"""``cachecheck faults``: the catalogue of deliberate mistakes."""

from __future__ import annotations

import argparse

from cachecheck.cli.values import Commands


def add(commands: Commands) -> None:
    """The command."""
    faults = commands.add_parser(
        "faults",
        help="the catalogue of deliberate mistakes that the laws must catch",
        description="List the deliberate faults: what each breaks, the law that catches it and the "
        "smallest schedule that shows it. With ids, tell all that is known of those. See one found "
        "with: cachecheck fuzz reference --fault ID",
        epilog="exit codes: 0 listed, 2 no such fault",
    )
    faults.add_argument("ids", nargs="*", metavar="ID", help="tell all about these faults only")
    faults.add_argument("--law", metavar="ID", help="only those that this law catches")
    faults.add_argument("--host", metavar="NAME", help="only those of this kind of cache")
    faults.add_argument(
        "--kinds",
        action="store_true",
        help="list the kinds of mistakes that the field reports, and which faults stand for them",
    )
    faults.set_defaults(command=_faults)


def _faults(parsed: argparse.Namespace) -> int:
    from rich.console import Console

    from cachecheck.commands.faults import Request, run

    request = Request(ids=tuple(parsed.ids), law=parsed.law, host=parsed.host, kinds=parsed.kinds)
    return run(request, Console())
