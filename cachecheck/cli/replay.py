"""``cachecheck replay``."""

from __future__ import annotations

import argparse
from pathlib import Path

from cachecheck.cli.values import Commands


def add(commands: Commands) -> None:
    """The command."""
    replay = commands.add_parser(
        "replay",
        help="try a stored failure again",
        description="Try a stored failure again. Prints FIXED or REFUSED (exit 0), FAILED (1), "
        "ERROR (2) or INCONCLUSIVE (3). REFUSED is a decoder that raises NotImplementedError "
        "there now, which accuses nobody. Works in any directory: the decoder's file is looked up "
        "in the project that the stored file lies in, or in the one you are in. Code outside of "
        "both is not run unless --target names it.",
    )
    replay.add_argument(
        "file",
        type=Path,
        help="a file that cachecheck fuzz, cachecheck shrink or a test has stored",
    )
    replay.add_argument(
        "--target",
        metavar="TARGET",
        help="the decoder to try it on, in place of the one that the file names: where it has "
        "moved, or lies outside the project (named as for cachecheck fuzz)",
    )
    replay.set_defaults(command=_replay)


def _replay(parsed: argparse.Namespace) -> int:
    from rich.console import Console

    from cachecheck.commands.replay import replay_file

    return replay_file(parsed.file, parsed.target, Console())
