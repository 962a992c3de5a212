"""``cachecheck run``, ``audit`` and ``figures``: the frozen experiment."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from cachecheck.cli.values import Commands


def add(commands: Commands) -> None:
    """The three commands."""
    run = commands.add_parser(
        "run",
        help="run the frozen experiment into a new evidence folder",
        description="Run the published experiment (3 seeds, some seconds) and write its evidence "
        "folder: arrays, results, manifest and hashes. The folder appears whole or not at all.",
    )
    run.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="a folder not yet there"
    )
    run.set_defaults(command=_run)
    audit = commands.add_parser(
        "audit",
        help="recompute an evidence folder's claims from its arrays",
        description="Recompute every reported error and count from the saved arrays, without the "
        "decoder, and check hashes, shapes and probabilities. Exit 0 if all is in order, else 1.",
    )
    audit.add_argument("folder", type=Path, metavar="DIR")
    audit.set_defaults(command=_audit)
    figures = commands.add_parser(
        "figures",
        help="draw an evidence folder's pictures",
        description="Draw the pictures of an evidence folder that passes its audit into "
        "DIR/figures. Needs matplotlib (the extra `figures`).",
    )
    figures.add_argument("folder", type=Path, metavar="DIR")
    figures.set_defaults(command=_figures)


def _run(parsed: argparse.Namespace) -> int:
    from cachecheck.experiment import run

    folder = run(parsed.out, progress=lambda line: print(line, file=sys.stderr))  # noqa: T201
    print(f"wrote {folder}")  # noqa: T201
    return 0


def _audit(parsed: argparse.Namespace) -> int:
    from cachecheck.experiment import audit

    problems = audit(parsed.folder)
    for problem in problems:
        print(f"{problem.check}: {problem.where}: {problem.message}")  # noqa: T201
    if problems:
        print(f"{len(problems)} problems: {parsed.folder} does not pass")  # noqa: T201
        return 1
    print(f"{parsed.folder} passes: hashes, shapes, probabilities, errors and counts agree")  # noqa: T201
    return 0


def _figures(parsed: argparse.Namespace) -> int:
    from cachecheck.experiment import figures

    for path in figures(parsed.folder):
        print(f"wrote {path}")  # noqa: T201
    return 0
