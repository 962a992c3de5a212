"""``cachecheck certify``."""

from __future__ import annotations

import argparse

from cachecheck.cli.values import EXITS, TARGET, Commands, natural, positive


def add(commands: Commands) -> None:
    """The command."""
    certify = commands.add_parser(
        "certify",
        help="check every partition of a sequence, not a sample",
        description="Check all 2^(N-1) ways to cut a sequence of N tokens into calls: by induction "
        "over transitions between states where the decoder offers state(cache), in N(N+1)/2 calls; "
        "else by a prefix tree of forks. With --law, every program of that law's operations up to "
        "a size. A fault comes with the smallest schedule that shows it.",
        epilog=EXITS,
    )
    certify.add_argument("target", metavar="TARGET", help=TARGET)
    certify.add_argument(
        "--length",
        type=positive,
        required=True,
        metavar="N",
        help="tokens of the sequence; with --law, tokens in all, at most",
    )
    certify.add_argument(
        "--method", choices=("induction", "tree"), help="default: induction where it applies"
    )
    certify.add_argument(
        "--law",
        metavar="ID",
        default="schedule",
        help="a law with operations (branch, crop, save, reorder, programs ...): run every program",
    )
    certify.add_argument(
        "--steps", type=positive, default=5, help="with --law: steps of a program (default 5)"
    )
    certify.add_argument("--seed", type=natural, default=0, help="of weights and tokens")
    certify.set_defaults(command=_certify)


def _certify(parsed: argparse.Namespace) -> int:
    from rich.console import Console

    from cachecheck.commands.certify import Request, run

    request = Request(
        target=parsed.target,
        length=parsed.length,
        method=parsed.method,
        law=parsed.law,
        steps=parsed.steps,
        seed=parsed.seed,
    )
    return run(request, Console())
