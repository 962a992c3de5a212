"""The command line: a thin face. Each command imports what it needs when it runs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from cachecheck import __version__
from cachecheck.errors import CachecheckError

_DESCRIPTION = """\
Check that decoding with a KV cache gives the rows of one full pass, however the tokens are cut
into calls. A decoder is checked through three functions and a number:

  vocab_size
  full(tokens) -> rows                     every row in one pass, no cache
  new_cache() -> cache                     opaque to cachecheck
  extend(tokens, cache) -> (rows, cache)   a chunk of new tokens onto a cache
"""

_EPILOG = """\
examples:
  cachecheck fuzz reference                  the built-in reference decoder, in many configurations
  cachecheck fuzz my_decoder.py:make -n auto   your own, on all cores
  cachecheck fuzz hf:llama                   Hugging Face's Llama code, tiny random weights
  cachecheck replay evidence/regressions/my-decoder-schedule-1a2b3c4d.json
  cachecheck run --out results && cachecheck audit results

exit codes: 0 holds, 1 violated, 2 could not run, 3 inconclusive, 130 interrupted
"""

_TARGET = """\
what to check: reference, package.module:factory, path/file.py:factory, or hf:NAME. A factory takes
a seed and returns a decoder; one without parameters, or a ready decoder, will do as well
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options, rest = _split(given)
    parsed = _parser().parse_args(options)
    parsed.pytest_options = tuple(rest)
    try:
        return int(parsed.command(parsed))
    except CachecheckError as error:
        print(f"cachecheck: {error}", file=sys.stderr)  # noqa: T201
        return 2
    except KeyboardInterrupt:
        print("cachecheck: interrupted", file=sys.stderr)  # noqa: T201
        return 130


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """What is ours, and what follows ``--`` and is pytest's."""
    if "--" not in arguments:
        return arguments, []
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1 :]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="cachecheck",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"cachecheck {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_fuzz(commands)
    replay = commands.add_parser(
        "replay",
        help="try a stored failure again",
        description="Try a stored failure again. Prints FIXED (exit 0), FAILED (1) or ERROR (2).",
    )
    replay.add_argument("file", type=Path, help="a file that cachecheck fuzz has written")
    replay.set_defaults(command=_replay)
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
    return parser


def _add_fuzz(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    fuzz = commands.add_parser(
        "fuzz",
        help="check a decoder against every law, on random cases",
        description="Draw sequences and ways to cut them into calls, and check the laws: "
        "causality, prefix, schedule, frame, sensitivity. A failing case is shrunk, shown and "
        "stored. Runs through pytest; options after -- go to pytest as they are.",
        epilog="exit codes: 0 holds, 1 violated, 2 could not run, 3 inconclusive, 130 interrupted",
    )
    fuzz.add_argument("target", metavar="TARGET", help=_TARGET)
    fuzz.add_argument(
        "--law",
        action="append",
        default=[],
        metavar="ID",
        help="check this law only; may be repeated",
    )
    fuzz.add_argument("--seed", type=_natural, default=0, help="of cases and weights (default 0)")
    fuzz.add_argument(
        "--examples", type=_positive, default=200, help="cases to draw for each law (default 200)"
    )
    fuzz.add_argument(
        "--max-length",
        type=_long_enough,
        help="longest sequence (default 24, or what it takes to cross the decoder's window)",
    )
    fuzz.add_argument("--json", type=Path, metavar="FILE", help="write the verdicts as JSON")
    fuzz.add_argument(
        "--save",
        type=Path,
        default=Path("evidence/regressions"),
        metavar="DIR",
        help="folder for failing cases, made when there is one (default evidence/regressions)",
    )
    fuzz.add_argument(
        "-n", dest="workers", type=_workers, metavar="N", help="worker processes, or auto"
    )
    fuzz.add_argument("--pdb", action="store_true", help="enter the debugger where a law fails")
    fuzz.add_argument("--junitxml", type=Path, metavar="FILE", help="write a JUnit report")
    fuzz.set_defaults(command=_fuzz)


def _fuzz(parsed: argparse.Namespace) -> int:
    from rich.console import Console

    from cachecheck.fuzz import FuzzOptions, fuzz

    options = FuzzOptions(
        target=parsed.target,
        laws=tuple(parsed.law),
        seed=parsed.seed,
        examples=parsed.examples,
        max_length=parsed.max_length,
        json_file=parsed.json,
        save=parsed.save,
        workers=parsed.workers,
        pdb=parsed.pdb,
        junitxml=parsed.junitxml,
        pytest_options=parsed.pytest_options,
    )
    return fuzz(options, Console())


def _replay(parsed: argparse.Namespace) -> int:
    from cachecheck.replay import Replayed, replay

    answer, line = replay(parsed.file)
    print(f"{answer.value}  {line}")  # noqa: T201
    return {Replayed.FIXED: 0, Replayed.FAILED: 1, Replayed.ERROR: 2}[answer]


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


def _natural(text: str) -> int:
    return _integer(text, 0)


def _positive(text: str) -> int:
    return _integer(text, 1)


def _long_enough(text: str) -> int:
    return _integer(text, 2)


def _workers(text: str) -> str:
    if text not in ("auto", "logical") and not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number of processes or auto, got {text!r}")
    return text


def _integer(text: str, least: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if value < least:
        raise argparse.ArgumentTypeError(f"expected an integer >= {least}, got {text!r}")
    return value
