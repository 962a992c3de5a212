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
from cachecheck.engines import need_libraries
from cachecheck.engines.known_failures import Ledger, load_ledger
from cachecheck.errors import InputError
from cachecheck.files import write_whole
from cachecheck.laws import LAWS
from cachecheck.report.terminal import print_plain, versions
from cachecheck.report.zoo import markdown, print_matrix
from cachecheck.zoo.cells import Cell
from cachecheck.zoo.matrix import Matrix, marked, read_matrix

INTERRUPTED = 130


@dataclass(frozen=True)
class Request:
    """What the command line asks for.

    Attributes:
        library: whose architectures.
        only: of them; empty for all, as are the next two.
        variants: to run them.
        laws: to put them under.
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


def run(request: Request, console: Console) -> int:
    """Run what is asked for; return the exit code.

    Raises:
        InputError: an unknown name, or a folder that cannot be written.
        TargetError: a package is missing.
    """
    ledger = load_ledger(request.library)
    file = request.out / f"{request.library}.json"
    if request.again:
        if request.only or request.variants or request.laws:
            raise InputError("--again shows what is there, all of it: leave out what limits a run")
        return _told(read_matrix(file), ledger, request, console)
    _check_place(request, file)
    need_libraries(f"zoo {request.library}")
    matrix, interrupted = _run(request, ledger, console)
    matrix.write(request.out)
    code = _told(matrix, ledger, request, console)
    if interrupted:
        print_plain(console, f"interrupted: {len(matrix.architectures)} architectures were done")
        return INTERRUPTED
    return code


def _run(request: Request, ledger: Ledger, console: Console) -> tuple[Matrix, bool]:
    # Seconds to import, and optional packages.
    from cachecheck.engines.hugging_face.tiny import causal_classes
    from cachecheck.engines.hugging_face.variants import VARIANTS
    from cachecheck.zoo import running
    from cachecheck.zoo.worker import Job

    every = sorted(causal_classes())
    chosen = _chosen("architecture", request.only, every)
    variants, laws = (
        _chosen("variant", request.variants, VARIANTS),
        _chosen("law", request.laws, LAWS),
    )
    amount = (request.examples, request.seed, request.memory)
    jobs = [Job(name, variants, laws, *amount, ledger.quarantined(name)) for name in chosen]
    asked = f"seed {request.seed}, {request.examples} cases for each law and variant"
    numbers = {**versions(), **_installed("torch", request.library, "optimum-quanto", "hqq")}
    whole = not (request.only or request.variants or request.laws)
    matrix = Matrix(request.library, numbers, laws, asked=asked, whole=whole, wanted=len(jobs))
    print_plain(console, f"{len(jobs)} architectures of {request.library}, {asked}")
    begun, workers, now = time.monotonic(), _workers(request.workers), {"last": "starting"}

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
            running.run(jobs, workers, request.seconds, done)
    except KeyboardInterrupt:
        interrupted, matrix.whole = True, False
    finally:
        signal.signal(signal.SIGTERM, ended)
    matrix.cells = list(running.in_order(matrix.cells, every))
    matrix.seconds = time.monotonic() - begun
    return matrix, interrupted


def _installed(*names: str) -> dict[str, str]:
    """Their versions, of those that are there."""
    found = {}
    for name in names:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _told(found: Matrix, ledger: Ledger, request: Request, console: Console) -> int:
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


def _check_place(request: Request, file: Path) -> None:
    """Refuse what could not be written in the end, or would replace more than it is."""
    for place in (request.out, *request.out.parents):
        if place.exists():
            if not place.is_dir():
                raise InputError(f"cannot write into {request.out}: {place} is no folder")
            break
    partial = request.only or request.variants or request.laws
    if partial and file.exists() and read_matrix(file).whole:
        raise InputError(f"{file} has a whole zoo, and this is a part: name another --out")


def _chosen(kind: str, wanted: Sequence[str], known: Collection[str]) -> tuple[str, ...]:
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, known)
            said = f"did you mean {', '.join(near)}?" if near else f"known: {', '.join(known)}"
            raise InputError(f"unknown {kind} {name!r}; {said}")
    return tuple(name for name in known if not wanted or name in wanted)


def _findings(out: Path) -> str:
    """Where the findings are, seen from a page in ``out``: beside it in the project's evidence."""
    return "../findings" if (out.resolve().parent / "findings").is_dir() else ""


def _workers(asked: str) -> int:
    if asked.isdecimal():
        return max(1, int(asked))
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
