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
        description="Try a stored failure again. Prints FIXED (exit 0), FAILED (1), ERROR (2) or "
        "INCONCLUSIVE (3).",
    )
    replay.add_argument("file", type=Path, help="a file that cachecheck fuzz has written")
    replay.set_defaults(command=_replay)


def _replay(parsed: argparse.Namespace) -> int:
    from cachecheck.replay import Replayed, replay

    answer, line = replay(parsed.file)
    print(f"{answer.value}  {line}")  # noqa: T201
    return {
        Replayed.FIXED: 0,
        Replayed.FAILED: 1,
        Replayed.ERROR: 2,
        Replayed.INCONCLUSIVE: 3,
    }[answer]
