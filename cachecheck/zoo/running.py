"""Runs the architectures, several at a time, each in a process that can be ended from outside."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess

from cachecheck.zoo.cells import Cell
from cachecheck.zoo.worker import Finished, Job, Started, work

_POLL = 0.2  # seconds between two readings of the clock


@dataclass
class _Running:
    """A worker, and how far it has come."""

    job: Job
    process: BaseProcess
    pipe: Connection
    begun: float
    now: Started | None = None
    cells: list[Cell] = field(default_factory=list)
    done: bool = False

    def read(self) -> None:
        """Take in what it has sent so far."""
        with suppress(EOFError, ConnectionResetError):
            while self.pipe.poll():
                match self.pipe.recv():
                    case Started() as started:
                        self.now = started
                    case Cell() as cell:
                        self.cells.append(cell)
                    case Finished():
                        self.done = True

    def lost(self, why: str) -> list[Cell]:
        """Its cells, and an ERROR for the law that was running when it ended.

        An end while a variant was built is put down to the first law.
        """
        variant = self.now.variant if self.now else self.job.variants[0]
        law = self.now.law if self.now and self.now.law else self.job.laws[0]
        return [*self.cells, Cell(self.job.architecture, variant, law, "ERROR", why)]

    def end(self) -> None:
        """Make sure that the process is gone."""
        if self.process.is_alive():
            self.process.kill()
        self.process.join()
        self.pipe.close()


def run(
    jobs: Sequence[Job],
    workers: int,
    seconds: float,
    on_done: Callable[[str, list[Cell]], None],
    preload: Sequence[str] = (),
) -> None:
    """Run every job, ``workers`` at a time; ``on_done`` gets the cells of each as it ends.

    Args:
        jobs: one for each architecture.
        workers: processes at a time.
        seconds: after which a worker is ended; what it has found is kept.
        on_done: called with the architecture and its cells.
        preload: modules that every worker needs, loaded once where that is possible.
    """
    context = _context(preload)
    waiting = list(reversed(jobs))
    running: list[_Running] = []
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                running.append(_start(context, waiting.pop()))
            wait([one.pipe for one in running] + [one.process.sentinel for one in running], _POLL)
            for one in list(running):
                cells = _cells_if_ended(one, seconds)
                if cells is not None:
                    running.remove(one)
                    on_done(one.job.architecture, cells)
    finally:
        for one in running:
            one.end()


def _cells_if_ended(one: _Running, seconds: float) -> list[Cell] | None:
    """The cells of a worker that has ended, or has just been ended; None if it goes on."""
    alive = one.process.is_alive()  # before reading: what it sends last is read as well
    one.read()
    if one.done:
        one.end()
        return one.cells
    if not alive:
        one.end()
        return one.lost(f"its process ended with exit code {one.process.exitcode}")
    if time.monotonic() - one.begun > seconds:
        one.end()
        return one.lost(f"not done after {seconds:g} seconds for the architecture")
    return None


def _start(context: BaseContext, job: Job) -> _Running:
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(job, theirs), daemon=True)  # type: ignore[attr-defined]
    process.start()
    theirs.close()  # else the end of the worker would not be the end of the pipe
    return _Running(job, process, ours, time.monotonic())


def _context(preload: Sequence[str]) -> BaseContext:
    """Processes forked off one that has the libraries loaded: a second each saved, or more."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([work.__module__, *preload])
    return context


def in_order(cells: Iterable[Cell], architectures: Sequence[str]) -> Iterator[Cell]:
    """The cells by architecture, as the library names them."""
    place = {name: at for at, name in enumerate(architectures)}
    yield from sorted(cells, key=lambda cell: place[cell.architecture])
