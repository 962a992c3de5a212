"""Run a zoo, print its matrix, write it."""

from __future__ import annotations

import difflib
import os
import signal
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.console import Console

from cachecheck.commands.progress import watching
from cachecheck.engines.engine import Engine, Zoo
from cachecheck.engines.known_failures import Ledger, load_ledger
from cachecheck.engines.registry import engine_named
from cachecheck.errors import InputError
from cachecheck.files import write_whole
from cachecheck.laws import LAWS
from cachecheck.report.summary import versions
from cachecheck.report.terminal import print_plain
from cachecheck.report.zoo import markdown, print_matrix
from cachecheck.zoo import running
from cachecheck.zoo.cells import Cell
from cachecheck.zoo.matrix import Matrix, marked, read_matrix
from cachecheck.zoo.worker import Job

INTERRUPTED = 130


@dataclass(frozen=True)
class Request:
    """One run as the command line asks for it.

    Attributes:
        library: whose architectures.
        only: of them; empty for all, as are the next two.
        variants: of each.
        laws: that each is put under.
        workers: architectures at a time, or ``auto``.
        examples: cases for each law and variant.
        seed: of the cases.
        seconds: for one architecture.
        memory: bytes of address space of one process, or None.
        out: folder for the matrix.
        again: print and write from the file that is there.
    """

    library: str
    only: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    laws: tuple[str, ...] = ()
    workers: str = "auto"
    examples: int = 4
    seed: int = 0
    seconds: float = 180.0
    memory: int | None = None
    out: Path = Path("zoo")
    again: bool = False

    @property
    def partial(self) -> bool:
        """True if it leaves out an architecture, a variant or a law."""
        return bool(self.only or self.variants or self.laws)


def run(request: Request, console: Console) -> int:
    """Run what is asked for; return the exit code.

    Raises:
        InputError: an unknown name, or a folder that cannot be written.
        TargetError: a package is missing.
    """
    ledger = load_ledger(request.library)
    file = request.out / f"{request.library}.json"
    if request.again:
        if request.partial:
            raise InputError("--again shows what is there, all of it: leave out what limits a run")
        return _report(read_matrix(file), ledger, request, console)
    _check_folder(request, file)
    engine = engine_named(request.library)
    zoo = engine.load_zoo()
    laws = _chosen("law", request.laws, LAWS)
    jobs = _jobs(request, engine, zoo, laws, ledger)
    matrix = Matrix(
        request.library,
        {**versions(), **_installed(zoo.packages)},
        laws,
        settings=f"seed {request.seed}, {request.examples} cases for each law and variant",
        whole=not request.partial,
        wanted=len(jobs),
    )
    print_plain(console, f"{len(jobs)} architectures of {request.library}, {matrix.settings}")
    interrupted = _fill(matrix, jobs, request, ledger, zoo)
    matrix.write(request.out)
    code = _report(matrix, ledger, request, console)
    if interrupted:
        print_plain(console, f"interrupted: {len(matrix.architectures)} architectures were done")
        return INTERRUPTED
    return code


def _jobs(
    request: Request, engine: Engine, zoo: Zoo, laws: tuple[str, ...], ledger: Ledger
) -> list[Job]:
    """A job for each architecture that is asked for."""
    chosen = _chosen("architecture", request.only, zoo.architectures)
    variants = _chosen("variant", request.variants, [one.id for one in zoo.variants])
    amount = (request.examples, request.seed, request.memory)
    return [Job(engine, name, variants, laws, *amount, ledger.quarantined(name)) for name in chosen]


def _fill(matrix: Matrix, jobs: Sequence[Job], request: Request, ledger: Ledger, zoo: Zoo) -> bool:
    """Run the jobs and put their cells into the matrix; True if that was interrupted."""
    begun, now = time.monotonic(), {"last": "starting"}

    def done(architecture: str, cells: list[Cell]) -> None:
        now["last"] = architecture
        matrix.cells += marked(cells, ledger)

    def watch() -> tuple[float, str, str]:
        failed = len(matrix.unknown())
        return len(matrix.architectures), now["last"], f"{failed} failures"

    interrupted = False
    ended = signal.signal(signal.SIGTERM, signal.default_int_handler)  # politely: as by Ctrl-C
    try:
        with watching(watch, total=len(jobs)):
            running.run(jobs, _workers(request.workers), request.seconds, done, zoo.preload)
    except KeyboardInterrupt:
        interrupted, matrix.whole = True, False
    finally:
        signal.signal(signal.SIGTERM, ended)
    matrix.cells = list(running.in_order(matrix.cells, zoo.architectures))
    matrix.seconds = time.monotonic() - begun
    return interrupted


def _installed(names: Sequence[str]) -> dict[str, str]:
    """Their versions, of those that are there."""
    found = {}
    for name in names:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _report(found: Matrix, ledger: Ledger, request: Request, console: Console) -> int:
    """Print the matrix and write its page; the exit code."""
    matrix = found.marked(ledger)
    stale = matrix.stale(ledger)
    print_matrix(console, matrix, stale, ledger.entries)
    page = request.out / f"{request.library}.md"
    try:
        write_whole(page, markdown(matrix, ledger.entries, _findings(request.out)))
    except OSError as error:
        raise InputError(f"cannot write {page}: {error.strerror}") from error
    print_plain(console, f"written: {page}" if request.again else f"written: {page} and .json")
    if stale or matrix.unknown(("VIOLATED",)):
        return 1
    return 2 if matrix.unknown(("ERROR",)) or not matrix.checked else 0


def _check_folder(request: Request, file: Path) -> None:
    """Refuse what could not be written in the end, or would replace more than it is."""
    for place in (request.out, *request.out.parents):
        if place.exists():
            if not place.is_dir():
                raise InputError(f"cannot write into {request.out}: {place} is no folder")
            break
    if request.partial and file.exists() and read_matrix(file).whole:
        raise InputError(f"{file} has a whole zoo, and this is a part: name another --out")


def _chosen(kind: str, wanted: Sequence[str], known: Collection[str]) -> tuple[str, ...]:
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, known)
            said = f"did you mean {', '.join(near)}?" if near else f"known: {', '.join(known)}"
            raise InputError(f"unknown {kind} {name!r}; {said}")
    return tuple(name for name in known if not wanted or name in wanted)


def _findings(out: Path) -> str:
    """The findings' folder as a page in ``out`` links to it; empty where it is not beside that."""
    return "../findings" if (out.resolve().parent / "findings").is_dir() else ""


def _workers(asked: str) -> int:
    if asked.isdecimal():
        return max(1, int(asked))
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
