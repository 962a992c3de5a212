"""One architecture, in a process of its own: built, run in every variant, put under every law."""

from __future__ import annotations

import contextlib
import io
import json
import signal
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from cachecheck.engines import transformers_factory
from cachecheck.engines.hugging_face.variants import VARIANTS, Variant, quiet
from cachecheck.errors import TargetError, Unsupported
from cachecheck.laws import LAWS, implied
from cachecheck.search import search
from cachecheck.search.cases import Effort
from cachecheck.target import Target, as_target
from cachecheck.zoo.cells import NOT_BUILT, Cell

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

FALLS = "not searched: from this law follows "
"""How the reason of a cell begins whose law falls with a weaker one."""

_LENGTH = 16
"""Longest sequence: windows of 6 are crossed twice over."""

_SEEDS = 2
"""Weights drawn for each architecture: most of its faults do not depend on them."""


@dataclass(frozen=True)
class Job:
    """What a worker is to do.

    Attributes:
        architecture: the library's model type.
        variants: ids of the variants to run it in.
        laws: ids of the laws; a variant leaves out those that it has no say in.
        examples: cases a law.
        seed: of the cases.
        memory: bytes of address space, or None for no limit.
        quarantined: (variant, law) pairs that are not to be run; ``*`` stands for all.
    """

    architecture: str
    variants: tuple[str, ...]
    laws: tuple[str, ...]
    examples: int
    seed: int
    memory: int | None
    quarantined: tuple[tuple[str, str], ...] = ()


def work(job: Job, pipe: Connection) -> None:
    """Send ``("now", variant, law)`` before each search and ``("cell", JSON)`` after it.

    Whoever reads the other end knows what ran when this process was killed.
    """
    _limit_memory(job.memory)
    quiet()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that started us
    with (
        contextlib.suppress(BrokenPipeError),  # nobody is left to be told
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")  # the library's, about its own future
        for message in messages(job):
            pipe.send(message)
        pipe.send(("done",))
        pipe.close()


def messages(job: Job) -> Iterator[tuple[str, ...]]:
    """All but the last of what `work` sends, as they come."""
    usual = VARIANTS["dynamic"]
    # Only the usual variant tells what cannot be built from what is refused.
    if usual.id not in job.variants:
        yield ("now", usual.id, "building")
        _, lacking = _target(job.architecture, usual)
        if lacking is not None and lacking.answer == NOT_BUILT:
            yield from (_cell(replace(lacking, law=law)) for law in _laws(job, usual))
            return
    for variant in (VARIANTS[name] for name in job.variants):
        yield ("now", variant.id, "building")
        target, lacking = _target(job.architecture, variant)
        if target is None:
            assert lacking is not None  # noqa: S101 - one of the two is there
            for law in _laws(job, variant):
                yield _cell(replace(lacking, law=law))
            if lacking.answer == NOT_BUILT:
                return  # nor in any other variant
            continue
        broken: dict[str, Cell] = {}
        for law in _laws(job, variant):
            yield ("now", variant.id, law)
            offered = LAWS[law].lacking(target.make(0)) is None
            cell = (_fallen(law, broken) if offered else None) or _searched(
                job, variant, law, target
            )
            if cell.answer == "VIOLATED":
                broken[law] = cell
            yield _cell(cell)


def _searched(job: Job, variant: Variant, law: str, target: Target) -> Cell:
    # Other cases for each architecture: code that many share is met by more of them.
    cases = f"{job.seed}/{job.architecture}"
    effort = Effort(seed=job.seed, examples=job.examples, max_length=_LENGTH, case_seed=cases)
    verdict, _ = search(LAWS[law], target, effort)
    return Cell.of(job.architecture, variant.id, verdict)


def _fallen(law: str, broken: Mapping[str, Cell]) -> Cell | None:
    """The cell of a law that cannot hold, since a weaker one is broken; None if it may."""
    weaker = next((name for name in broken if name in implied(LAWS, law)), None)
    if weaker is None:
        return None
    cell = broken[weaker]
    reason = cell.reason if cell.reason.startswith(FALLS) else f"{FALLS}{weaker}, which is broken"
    return replace(cell, law=law, reason=reason, examples=0, seconds=0.0)


def _laws(job: Job, variant: Variant) -> list[str]:
    away = {law for name, law in job.quarantined if name in (variant.id, "*")}
    return [law for law in job.laws if variant.concerns(law) and not {law, "*"} & away]


def _cell(cell: Cell) -> tuple[str, str]:
    return ("cell", json.dumps(cell.to_json()))


def _target(architecture: str, variant: Variant) -> tuple[Target | None, Cell | None]:
    """The target, or the cell that says why there is none."""
    cell = Cell(architecture, variant.id, "", NOT_BUILT)
    begun = time.monotonic()
    name = f"hf:{architecture}/{variant.id}"
    # Built once for all laws: the guard reads rows and keeps nothing of a case.
    make = lru_cache(maxsize=_SEEDS)(
        as_target(transformers_factory(f"{architecture}/{variant.id}"), name).make
    )
    try:
        make(0).full([0, 1])
    except Unsupported as refusal:
        return None, replace(cell, answer="UNSUPPORTED", reason=str(refusal))
    except Exception as error:  # noqa: BLE001 - whatever the library raises is the reason
        cause = error.__cause__
        said = str(error) if cause is None else f"{type(cause).__name__}: {cause}"
        said = " ".join(said.split())
        refused = isinstance(error, TargetError) and error.__cause__ is None  # by the adapter
        if refused or variant.id != "dynamic":
            return None, replace(cell, answer="UNSUPPORTED", reason=said)
        return None, replace(cell, reason=said, seconds=round(time.monotonic() - begun, 2))
    return Target(name, make, _SEEDS), None


def _limit_memory(memory: int | None) -> None:
    if memory is None:
        return
    with contextlib.suppress(ImportError):  # no such module on Windows
        import resource  # noqa: PLC0415

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
