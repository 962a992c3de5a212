"""``cachecheck zoo``."""

from __future__ import annotations

import argparse
from pathlib import Path

from cachecheck.cli.values import Commands, natural, positive, seconds, workers
from cachecheck.engines import registry
from cachecheck.errors import InputError


def add(commands: Commands) -> None:
    """The command."""
    libraries = [engine.name for engine in registry.ENGINES if engine.zoo]
    zoo = commands.add_parser(
        "zoo",
        help="every architecture of a library through every law: one matrix",
        description="Build every causal architecture of the installed library tiny, with random "
        "weights and no downloads, run it in several variants (kinds of cache, attention and "
        "precision), and put it under every law that it has the members for; a variant other than "
        "the usual one under those that it may break while the usual one keeps them. Each "
        "architecture has a process of its own. What is known to fail is in the ledger of known "
        "failures and is shown apart; the matrix is written to OUT/LIBRARY.json and "
        "OUT/LIBRARY.md.",
        epilog="exit codes: 0 nothing but what the ledger knows, 1 a violation that it does not "
        "know, or one that it knows and that passes now, 2 an error that it does not know or "
        "nothing checked, 130 interrupted (what was found is written)",
    )
    zoo.add_argument("library", choices=libraries, help="whose architectures")
    zoo.add_argument("--only", metavar="A,B", help="these architectures; default: all")
    zoo.add_argument("--variants", metavar="A,B", help="these variants of each; default: all")
    zoo.add_argument("--laws", metavar="A,B", help="these laws; default: all")
    zoo.add_argument(
        "-n", dest="workers", type=workers, default="auto", metavar="N",
        help="architectures at a time; auto (the default): one for each core",
    )  # fmt: skip
    zoo.add_argument(
        "--examples", type=positive, default=4, metavar="N",
        help="cases for each law and variant (default 4): a survey; fuzz looks closer",
    )  # fmt: skip
    zoo.add_argument("--seed", type=natural, default=0, help="of the cases (default 0)")
    zoo.add_argument(
        "--timeout", type=seconds, default=180.0, metavar="TIME",
        help="for one architecture, after which its process is ended (default 3m)",
    )  # fmt: skip
    zoo.add_argument(
        "--memory", type=natural, default=8, metavar="GIB",
        help="address space of one process (default 8); 0 for no limit",
    )  # fmt: skip
    zoo.add_argument("--out", type=Path, default=Path("zoo"), metavar="FOLDER", help="default: zoo")
    zoo.add_argument(
        "--again", action="store_true",
        help="do not run: print and rewrite the page from OUT/LIBRARY.json and the ledger",
    )  # fmt: skip
    zoo.set_defaults(command=_zoo)


def _zoo(parsed: argparse.Namespace) -> int:
    from rich.console import Console

    from cachecheck.commands.zoo import Request, run

    def names(option: str, given: str | None) -> tuple[str, ...]:
        chosen = tuple(filter(None, (given or "").split(",")))
        if given is not None and not chosen:
            raise InputError(f"{option} names nothing; leave it out for all")
        return chosen

    if parsed.workers == "0":
        raise InputError("-n 0 would run nothing; expected 1 or more, or auto")

    request = Request(
        library=parsed.library,
        only=names("--only", parsed.only),
        variants=names("--variants", parsed.variants),
        laws=names("--laws", parsed.laws),
        workers=parsed.workers,
        examples=parsed.examples,
        seed=parsed.seed,
        seconds=parsed.timeout,
        memory=parsed.memory << 30 or None,
        out=parsed.out,
        again=parsed.again,
    )
    return run(request, Console())
