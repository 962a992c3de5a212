"""``cachecheck fuzz`` and ``cachecheck laws``."""

from __future__ import annotations

import argparse
from pathlib import Path

from cachecheck.cli.values import (
    EXITS,
    TARGET,
    Commands,
    long_enough,
    natural,
    positive,
    seconds,
    workers,
)


def add(commands: Commands) -> None:
    """Both commands."""
    fuzz = commands.add_parser(
        "fuzz",
        help="check a decoder against every law, on random cases",
        description="Draw sequences, ways to cut them into calls, and cache operations, and check "
        "the laws (see cachecheck laws). A failing case is shrunk, shown and stored, and tried "
        "first the next time. Runs through pytest; options after -- go to pytest as they are.",
        epilog=EXITS,
    )
    fuzz.add_argument("target", metavar="TARGET", help=TARGET)
    fuzz.add_argument(
        "--law",
        action="append",
        default=[],
        metavar="ID",
        help="check this law only; may be repeated",
    )
    fuzz.add_argument(
        "--fault",
        metavar="ID",
        help="with the target reference: the decoder with this deliberate mistake (cachecheck "
        "faults lists them)",
    )
    _add_effort(fuzz)
    fuzz.add_argument("--json", type=Path, metavar="FILE", help="write the verdicts as JSON")
    fuzz.add_argument(
        "--save",
        type=Path,
        default=Path("evidence/regressions"),
        metavar="DIR",
        help="folder for failing cases, made when there is one (default evidence/regressions)",
    )
    fuzz.add_argument("-n", dest="workers", type=workers, metavar="N", help="processes, or auto")
    fuzz.add_argument(
        "--shards",
        type=positive,
        default=1,
        help="split each law into so many tests with cases of their own, to spread over -n",
    )
    fuzz.add_argument("--pdb", action="store_true", help="enter the debugger where a law fails")
    fuzz.add_argument("--junitxml", type=Path, metavar="FILE", help="write a JUnit report")
    fuzz.set_defaults(command=_fuzz)
    laws = commands.add_parser(
        "laws",
        help="the laws: what must hold, what each needs, what follows from it",
        description="Print every law: what must hold, why, what it does not claim, the members of "
        "a decoder that it needs, and the laws that follow from it.",
    )
    laws.set_defaults(command=_laws)


def _add_effort(fuzz: argparse.ArgumentParser) -> None:
    fuzz.add_argument("--seed", type=natural, default=0, help="of cases and weights (default 0)")
    fuzz.add_argument(
        "--effort",
        choices=("quick", "ci", "deep"),
        default="ci",
        help="cases for each law: 50, 200 (the default) or 5000",
    )
    fuzz.add_argument("--examples", type=positive, help="cases for each law, whatever the effort")
    fuzz.add_argument(
        "--time",
        type=seconds,
        metavar="TIME",
        help="go on for so long instead (90s, 10m, 1h), and say what has been reached",
    )
    fuzz.add_argument(
        "--max-length",
        type=long_enough,
        help="longest sequence (default 24, or what it takes to cross the decoder's window)",
    )
    fuzz.add_argument(
        "--call-timeout",
        type=seconds,
        metavar="TIME",
        help="a call of the decoder that takes longer (5s) is said to hang",
    )


def _fuzz(parsed: argparse.Namespace) -> int:
    from rich.console import Console

    from cachecheck.commands.fuzz import fuzz
    from cachecheck.commands.fuzz_options import FuzzOptions

    options = FuzzOptions(
        target=_target(parsed),
        laws=tuple(parsed.law),
        seed=parsed.seed,
        effort=parsed.effort,
        examples=parsed.examples,
        seconds=parsed.time,
        call_timeout=parsed.call_timeout,
        shards=parsed.shards,
        max_length=parsed.max_length,
        json_file=parsed.json,
        save=parsed.save,
        workers=parsed.workers,
        pdb=parsed.pdb,
        junitxml=parsed.junitxml,
        pytest_options=parsed.pytest_options,
    )
    return fuzz(options, Console())


def _target(parsed: argparse.Namespace) -> str:
    """The target's name, that of a fault included.

    Raises:
        InputError: a fault of another target than the reference, or an unknown one.
    """
    if parsed.fault is None:
        return str(parsed.target)
    from cachecheck.errors import InputError
    from cachecheck.faults import fault_named

    fault = fault_named(parsed.fault)
    if parsed.target not in ("reference", f"reference:{fault.host}"):
        raise InputError(f"--fault goes with the target reference; got {parsed.target}")
    return f"fault:{fault.id}"


def _laws(_parsed: argparse.Namespace) -> int:
    from rich.console import Console

    from cachecheck.report.laws import print_laws

    print_laws(Console())
    return 0
