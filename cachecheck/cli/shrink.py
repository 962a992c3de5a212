"""``cachecheck shrink``."""

from __future__ import annotations

import argparse
from pathlib import Path

from cachecheck.cli.values import EXITS, TARGET, Commands, natural, seconds

_DESCRIPTION = """\
Take a failing schedule, say 2048+2048+1023 from a server's log, and make it as small as it gets
while it still breaks the same law in the same way. Also tries a single schedule once: what holds is
not shrunk. The notation:

"""


def add(commands: Commands) -> None:
    """The command."""
    from cachecheck.schedule.notation import NOTATION

    shrink = commands.add_parser(
        "shrink",
        help="make a failing schedule of yours small",
        description=_DESCRIPTION + NOTATION,
        epilog=EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    shrink.add_argument("target", metavar="TARGET", help=TARGET)
    shrink.add_argument("schedule", metavar="SCHEDULE", help="in the notation above")
    shrink.add_argument(
        "--law",
        metavar="ID",
        help="the law it breaks (default: schedule for calls alone, else programs)",
    )
    tokens = shrink.add_mutually_exclusive_group()
    tokens.add_argument(
        "--tokens", metavar="IDS", help="token IDs joined by commas, or a file of them"
    )
    tokens.add_argument(
        "--token-seed", type=natural, default=0, help="draw the tokens from this seed (default 0)"
    )
    shrink.add_argument("--seed", type=natural, default=0, help="of the decoder (default 0)")
    shrink.add_argument(
        "--call-timeout",
        type=seconds,
        metavar="TIME",
        help="a call of the decoder that takes longer (5s) is said to hang",
    )
    shrink.add_argument(
        "--save",
        type=Path,
        default=Path("evidence/regressions"),
        metavar="DIR",
        help="folder for the small case (default evidence/regressions)",
    )
    shrink.set_defaults(command=_shrink)


def _shrink(parsed: argparse.Namespace) -> int:
    from rich.console import Console

    from cachecheck.commands.shrink import Request, read_tokens, run

    request = Request(
        target=parsed.target,
        schedule=parsed.schedule,
        law=parsed.law,
        tokens=None if parsed.tokens is None else read_tokens(parsed.tokens),
        token_seed=parsed.token_seed,
        seed=parsed.seed,
        call_timeout=parsed.call_timeout,
    )
    return run(request, parsed.save, Console())
