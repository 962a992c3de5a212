"""One fault in one architecture: the zoo's own survey, and 200 cases where that saw nothing."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

from benchmarks.engine_faults.catalogue import FAULTS
from benchmarks.engine_faults.comparing import compared
from benchmarks.engine_faults.fault import EngineFault, patched
from cachecheck.engines.hugging_face.variants import VARIANTS, silence_library
from cachecheck.engines.known_failures import load_ledger
from cachecheck.engines.registry import engine_named
from cachecheck.errors import TargetError, Unsupported
from cachecheck.laws import LAWS
from cachecheck.search import search
from cachecheck.search.cases import Effort
from cachecheck.target import Target, load_target
from cachecheck.verdict import Verdict
from cachecheck.zoo.cells import Cell
from cachecheck.zoo.worker import Job, messages

SEED, EXAMPLES, MANY = 0, 4, 200
"""The zoo's seed and cases for each law and variant; those of ``cachecheck fuzz``."""

FAILED = ("VIOLATED", "ERROR")
Accused = frozenset[tuple[str, str]]
"""Ways and laws that fail without any fault: nothing is caught there."""


def silence() -> None:
    """This process as a worker of the zoo: one thread, and no advice from the library."""
    silence_library()
    warnings.simplefilter("ignore")


def survey(architecture: str, variants: tuple[str, ...] = tuple(VARIANTS)) -> Iterator[Cell]:
    """The cells of ``cachecheck zoo``, in its order, as they are found."""
    engine = engine_named("transformers")
    job = Job(engine, architecture, variants, tuple(LAWS), EXAMPLES, SEED, memory=None)
    yield from (message for message in messages(job) if isinstance(message, Cell))


def control(architecture: str) -> dict[str, Any]:
    """The survey of the library as it is: answers, and which cells fail, each with its entry."""
    ledger, accused, answers = load_ledger("transformers"), [], Counter[str]()
    for cell in survey(architecture):
        answers[cell.answer] += 1
        if cell.answer in FAILED:
            where = (cell.architecture, cell.variant, cell.law, cell.answer)
            entry = ledger.explaining(where)
            known = "" if entry is None else entry.id
            accused.append(
                {"variant": cell.variant, "law": cell.law, "answer": cell.answer, "known": known}
            )
    return {"architecture": architecture, "answers": dict(answers), "failed": accused}


def measure(name: str, architecture: str, accused: Accused) -> dict[str, Any]:
    """The effect of a fault in an architecture, and the first cell that shows it."""
    fault = FAULTS[name]
    change = compared(fault, architecture)
    variants = tuple(VARIANTS) if change.beyond else fault.variants
    with patched(fault, architecture):
        cell = next((one for one in survey(architecture, variants) if _counts(one, accused)), None)
    found: dict[str, Any] = {
        "fault": name,
        "architecture": architecture,
        "outcome": _outcome(cell, beyond=change.beyond, changed=change.changed),
        **vars(change),
    }
    if cell is not None:
        found |= {
            "variant": cell.variant,
            "law": cell.law,
            "answer": cell.answer,
            "schedule": cell.schedule,
            "case": cell.examples,
        }
        if cell.answer == "ERROR":
            found["reason"] = cell.reason
    elif found["outcome"] == "missed":
        found["many"] = many(fault, architecture, accused)
    return found


def _counts(cell: Cell, accused: Accused) -> bool:
    return cell.answer in FAILED and (cell.variant, cell.law) not in accused


def _outcome(cell: Cell | None, *, beyond: bool, changed: int) -> str:
    if cell is not None:
        return "caught"
    if beyond:
        return "missed"
    return "within tolerance" if changed else "changes nothing"


def many(fault: EngineFault, architecture: str, accused: Accused) -> dict[str, Any] | None:
    """The law that finds the fault within the cases of ``fuzz``, and by which; None if none does.

    What it finds without the fault as well does not count.
    """
    for variant in fault.variants:
        target = load_target(f"hf:{architecture}/{variant}")
        for law in [fault.law] if fault.law else LAWS:
            if (variant, law) in accused:
                continue
            with patched(fault, architecture):
                verdict = _searched(law, target)
            if verdict is None or verdict.answer.value not in FAILED:
                continue
            without = _searched(law, target)
            if without is None or without.answer.value in FAILED:
                continue
            return {
                "variant": variant,
                "law": law,
                "answer": verdict.answer.value,
                "schedule": verdict.schedule,
                "case": verdict.examples,
            }
    return None


def _searched(law: str, target: Target) -> Verdict | None:
    try:
        return search(LAWS[law], target, Effort(seed=SEED, examples=MANY))[0]
    except (TargetError, Unsupported):
        return None
