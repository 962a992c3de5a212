"""One architecture, in a process of its own: built, run in every variant, put under every law."""

from __future__ import annotations

import contextlib
import io
import signal
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from cachecheck.engines.engine import Engine, Variant, decoder_name
from cachecheck.errors import TargetError, Unsupported
from cachecheck.laws import LAWS, implied
from cachecheck.search import search
from cachecheck.search.cases import Effort
from cachecheck.target import Target, as_target
from cachecheck.zoo.cells import NOT_BUILT, Cell

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_LENGTH = 16
"""Longest sequence: windows of 6 are crossed twice over."""

_SEEDS = 2
"""Weights drawn for each architecture: most of its faults do not depend on them."""


@dataclass(frozen=True)
class Job:
    """A worker's task.

    Attributes:
        engine: whose architecture it is.
        architecture: the library's name of it.
        variants: ids of those to run.
        laws: ids of the laws; a variant leaves out those that do not concern it.
        examples: cases a law.
        seed: of the cases.
        memory: bytes of address space, or None for no limit.
        quarantined: (variant, law) pairs that are not to be run; ``*`` stands for all.
    """

    engine: Engine
    architecture: str
    variants: tuple[str, ...]
    laws: tuple[str, ...]
    examples: int
    seed: int
    memory: int | None
    quarantined: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Started:
    """Sent before a variant is built, and before each law: if the worker is lost, it was at that.

    Attributes:
        variant: its id.
        law: its id; empty while the variant is built.
    """

    variant: str
    law: str = ""


@dataclass(frozen=True)
class Finished:
    """Sent last by a worker that did all of its job."""


def work(job: Job, pipe: Connection) -> None:
    """Do a job in this process: send each `Started` and `Cell` as it comes, then `Finished`."""
    _limit_memory(job.memory)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that started us
    with (
        contextlib.suppress(BrokenPipeError),  # nobody is left to read
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")  # the library's, about its own future
        for message in messages(job):
            pipe.send(message)
        pipe.send(Finished())
        pipe.close()


def messages(job: Job) -> Iterator[Started | Cell]:
    """Every cell of a job, as it is found, and before it what is begun."""
    zoo = job.engine.load_zoo()
    zoo.prepare()
    usual, known = zoo.variants[0], {variant.id: variant for variant in zoo.variants}
    # Only the usual variant tells what cannot be built from what is refused.
    if usual.id not in job.variants:
        yield Started(usual.id)
        target = _built(job, usual, usual=True)
        if isinstance(target, Cell) and target.answer == NOT_BUILT:
            yield from (replace(target, law=law) for law in _laws(job, usual))
            return
    for variant in (known[name] for name in job.variants):
        yield Started(variant.id)
        target = _built(job, variant, usual=variant is usual)
        if isinstance(target, Target):
            yield from _under_laws(job, variant, target)
            continue
        yield from (replace(target, law=law) for law in _laws(job, variant))
        if target.answer == NOT_BUILT:
            return  # nor in any other variant


def _under_laws(job: Job, variant: Variant, target: Target) -> Iterator[Started | Cell]:
    broken: dict[str, Cell] = {}
    for law in _laws(job, variant):
        yield Started(variant.id, law)
        offered = LAWS[law].lacking(target.make(0)) is None
        cell = (_implied_cell(law, broken) if offered else None) or _searched(
            job, variant, law, target
        )
        if cell.answer == "VIOLATED":
            broken[law] = cell
        yield cell


def _searched(job: Job, variant: Variant, law: str, target: Target) -> Cell:
    # Other cases for each architecture: code that many share is met by more of them.
    cases = f"{job.seed}/{job.architecture}"
    effort = Effort(seed=job.seed, examples=job.examples, max_length=_LENGTH, case_seed=cases)
    verdict, _ = search(LAWS[law], target, effort)
    return Cell.of(job.architecture, variant.id, verdict)


def _implied_cell(law: str, broken: Mapping[str, Cell]) -> Cell | None:
    """The cell of a law that cannot hold, since a weaker one is broken; None if it may."""
    weaker = next((name for name in broken if name in implied(LAWS, law)), None)
    return None if weaker is None else broken[weaker].implied_for(law)


def _laws(job: Job, variant: Variant) -> list[str]:
    away = {law for name, law in job.quarantined if name in (variant.id, "*")}
    return [law for law in job.laws if variant.concerns(law) and not {law, "*"} & away]


def _built(job: Job, variant: Variant, *, usual: bool) -> Target | Cell:
    """The target, or a cell (without its law) that says why there is none."""
    name = decoder_name(job.architecture, variant.id)
    factory = job.engine.decoder_factory(name)
    target = as_target(factory, f"{job.engine.prefix}:{name}")
    # Built once for all laws: the guard reads rows and keeps nothing of a case.
    make = lru_cache(maxsize=_SEEDS)(target.make)
    try:
        make(0).full([0, 1])
    except Unsupported as refusal:
        return Cell(job.architecture, variant.id, "", "UNSUPPORTED", str(refusal))
    except Exception as error:  # noqa: BLE001 - whatever the library raises is the reason
        cause = error.__cause__
        said = str(error) if cause is None else f"{type(cause).__name__}: {cause}"
        by_adapter = isinstance(error, TargetError) and cause is None
        answer = "UNSUPPORTED" if by_adapter or not usual else NOT_BUILT
        return Cell(job.architecture, variant.id, "", answer, " ".join(said.split()))
    return Target(target.name, make, _SEEDS)


def _limit_memory(memory: int | None) -> None:
    if memory is None:
        return
    with contextlib.suppress(ImportError):  # no such module on Windows
        import resource  # noqa: PLC0415

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
