"""``cachecheck replay``: a stored failure tried again."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from cachecheck.replay import Replayed, replay
from cachecheck.report.terminal import print_plain

_CODES = {
    Replayed.FIXED: 0,
    Replayed.REFUSED: 0,
    Replayed.FAILED: 1,
    Replayed.ERROR: 2,
    Replayed.INCONCLUSIVE: 3,
}


def replay_file(file: Path, target: str | None, console: Console) -> int:
    """Try the failure in ``file`` again, print one line, and return the exit code.

    Args:
        file: as ``cachecheck fuzz`` or a test has stored it.
        target: name of the decoder in place of the stored one, or None.
        console: where the line goes.
    """
    answer, line = replay(file, target)
    print_plain(console, f"{answer.value}  {line}")
    return _CODES[answer]
