"""Outputs of the commands that the documents show, run in an empty folder beside the examples."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
COLUMNS = 100


def output_of(command: str, *options: str) -> str:
    """What a command of a page prints.

    Args:
        command: ``cachecheck ...`` or ``pytest ...``; ``| tail -n N`` keeps the last lines.
        options: further ones, put behind the command's own.
    """
    command, _, lines = command.partition(" | tail -n ")
    printed = ran(command, *options)
    if command.startswith("pytest "):
        return excerpt(printed)
    shown = [line.rstrip() for line in printed.splitlines()]
    return "\n".join(shown[-int(lines) :] if lines else shown) + "\n"


@functools.cache  # two pages that show one command show one run of it
def ran(command: str, *options: str, colour: bool = False) -> str:
    """All that a command prints, with the codes of a terminal's colours if ``colour``.

    Raises:
        RuntimeError: it printed nothing.
    """
    program, *arguments = [*command.split(), *options]
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
    if not done.stdout.strip():
        raise RuntimeError(f"{command} printed nothing, and said: {done.stderr.strip()}")
    return done.stdout


def excerpt(report: str) -> str:
    """The lines of a pytest report that say what failed and on which case."""
    wanted = re.compile(
        r">       assert|^E       assert|Failing test case|^E +problem=|\d+ failed, \d+ passed"
    )
    return "".join(line.strip("= ") + "\n" for line in report.splitlines() if wanted.search(line))
