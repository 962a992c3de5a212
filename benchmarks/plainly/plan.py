"""From the zoo's cells to plain checks: the accused ones, and for comparison those that hold."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from cachecheck.engines.hugging_face.tiny import POSITIONS, TOKENS, causal_classes, tiny_config
from cachecheck.engines.hugging_face.variants import VARIANTS
from cachecheck.zoo.cells import Cell
from cachecheck.zoo.matrix import Matrix

_DRAWS = 100
"""Sequences tried on each model until the difference shows: what an 8-bit cache does is rare."""

_CONTROL_DRAWS = 4


class Check(NamedTuple):
    """A function of ``plain.py`` and its numbers."""

    name: str
    numbers: tuple[int, ...]


class Job(NamedTuple):
    """One check of one architecture in one variant.

    Attributes:
        architecture: the library's model type.
        variant: how it is run.
        check: what is done.
        accused: whether the zoo's cells say VIOLATED.
        finding: that the cells lead to; empty where they hold.
        laws: of the cells.
        tolerance: the largest of the cells.
    """

    architecture: str
    variant: str
    check: Check
    accused: bool
    finding: str
    laws: tuple[str, ...]
    tolerance: float


_CONTROLS = {
    "schedule": Check("chunks", (3, 1, 4, 2)),
    "prefix": Check("prefix", (2, 6)),
    "causality": Check("later", (2, 6)),
    "batch": Check("batch", (1, 4, 2)),
    "crop": Check("rolled", (5, 3, 2)),
    "reset": Check("emptied", (4, 3)),
    "determinism": Check("again", (3,)),
}
"""What is checked where a law holds."""


def jobs(matrix: Matrix) -> list[Job]:
    """What to check, each once: the accused first."""
    found: dict[tuple[Any, ...], Job] = {}
    for cell in matrix.cells:
        check = _check(cell)
        if check is None:
            continue
        accused, tolerance = cell.answer == "VIOLATED", cell.tolerance or 0.0
        key = (not accused, cell.architecture, cell.variant, check)
        old = found.get(key)
        laws = (*(old.laws if old else ()), cell.law)
        tolerance = max(tolerance, old.tolerance if old else 0.0)
        found[key] = Job(*key[1:], accused, cell.known, laws, tolerance)
    return [found[key] for key in sorted(found)]


def _check(cell: Cell) -> Check | None:
    if cell.answer == "VIOLATED" and not cell.follows_from:
        return _accusation(cell)
    # Where few bits hold, no difference passed a bound that cachecheck measured: no plain answer.
    if cell.answer == "HOLDS" and VARIANTS[cell.variant].rounding is None:
        return _CONTROLS.get(cell.law)
    return None


def _accusation(cell: Cell) -> Check:
    """The check that shows what the cell says."""
    steps = cell.schedule or ""
    sizes = tuple(int(size) for size in re.findall(r"\d+", steps))
    if cell.law == "overflow":
        generated = cell.known == "roberta-generate-positions"
        return Check("past_the_end" if generated else "across_the_end", (POSITIONS, *sizes))
    if cell.law == "padding":  # beside a longer sequence that the schedule does not show
        return _together(cell, (sizes[0], sizes[0] + 1), len(sizes))
    if "new*1" in steps:
        return Check("generate", (sum(sizes[1:]),))
    if "new*" in steps:  # b=new*2 b:1/5+1/1: rows of 1 and 5, then a token each
        first, *more = steps.rpartition(":")[2].split("+")
        return _together(cell, tuple(map(int, first.split("/"))), 1 + len(more))
    return Check(_named(cell, steps), sizes)


def _named(cell: Cell, steps: str) -> str:
    """The check of one sequence that shows what the cell says."""
    if (cell.architecture, cell.law) == ("reformer", "schedule"):  # refuses a second call
        return "prefix"
    if cell.kind == "chunk-leak":
        return "later_in_call"
    operation = next((name for word, name in _OPERATIONS.items() if word in steps), "chunks")
    return _LAWS.get(cell.law, operation)


_OPERATIONS = {"crop": "rolled", "reset": "emptied"}
_LAWS = {"determinism": "again", "frame": "again", "prefix": "prefix", "causality": "later"}
"""Checks of what a step in the schedule, or the law, is about; else decoding in chunks."""


def _together(cell: Cell, lengths: tuple[int, ...], steps: int) -> Check:
    if cell.architecture.startswith("musicgen"):  # whose generate adds tokens of its own
        return Check("masked", lengths)
    return Check("batch", (*lengths, steps))


def described(job: Job) -> dict[str, Any]:
    """The job as ``plain.py`` reads it, with the configuration written out."""
    config = tiny_config(job.architecture)
    return {
        "architecture": job.architecture,
        "class": causal_classes()[job.architecture],
        "config_class": type(config).__name__,
        "config": config.to_dict(),
        "tokens": TOKENS,
        "variant": job.variant,
        "attention": "eager" if job.variant == "eager" else None,
        "check": job.check.name,
        "numbers": list(job.check.numbers),
        "tolerance": job.tolerance,
        "draws": _DRAWS if job.accused else _CONTROL_DRAWS,
    }
