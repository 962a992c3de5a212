"""Outputs of the commands that the documents show, run in an empty folder beside the examples."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
COLUMNS = 100

_RAN = (0, 1, 3)  # all is well, something is violated or failed, inconclusive


def output_of(command: str) -> str:
    """What a command of a page prints.

    Args:
        command: ``cachecheck ...`` or ``pytest ...``; ``| tail -n N`` keeps the last lines.

    Raises:
        RuntimeError: it could not run.
    """
    command, _, lines = command.partition(" | tail -n ")
    shown = [line.rstrip() for line in ran(command).splitlines()]
    if command.startswith("pytest "):
        shown = excerpt(shown)
    return "\n".join(shown[-int(lines) :] if lines else shown) + "\n"


@functools.cache  # two pages that show one command show one run of it
def ran(command: str, *, colour: bool = False) -> str:
    """All that a command prints, with the codes of a terminal's colours if ``colour``.

    Raises:
        RuntimeError: it could not run.
    """
    program, *arguments = command.split()
    environment = {"PYTHONPATH": str(ROOT), "PATH": "", "COLUMNS": str(COLUMNS)}
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder) / "examples")
        shutil.copy(ROOT / "conftest.py", folder)
        done = subprocess.run(
            [sys.executable, "-m", program, *arguments],
            cwd=folder,
            env=environment | ({"FORCE_COLOR": "1"} if colour else {}),
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode not in _RAN:
        raise RuntimeError(f"{command} could not run: {done.stderr or done.stdout}")
    return done.stdout


def excerpt(report: Sequence[str]) -> list[str]:
    """The lines of a pytest report that say what failed and on which case."""
    wanted = re.compile(
        r">       assert|^E       assert|Failing test case|^E +problem=|\d+ failed, \d+ passed"
    )
    return [line.strip("= ") for line in report if wanted.search(line)]
