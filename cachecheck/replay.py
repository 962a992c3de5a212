"""Failures as files: written whole, read back, tried again."""

from __future__ import annotations

import hashlib
import json
import re
from enum import StrEnum
from pathlib import Path
from typing import Any

from cachecheck.errors import CachecheckError, InputError
from cachecheck.files import write_whole
from cachecheck.judge import Trial, alone
from cachecheck.laws import LAWS, Law
from cachecheck.schedule import Case, Schedule
from cachecheck.target import load_target
from cachecheck.verdict import Answer, Verdict

FORMAT = 1
_SLUG = 80  # characters of the target's name in a file's name; file systems stop at 255


class Replayed(StrEnum):
    """What became of a stored failure."""

    FIXED = "FIXED"
    FAILED = "FAILED"
    INCONCLUSIVE = "INCONCLUSIVE"
    ERROR = "ERROR"


def save_failure(verdict: Verdict, target: str, folder: Path) -> Path:
    """Write the smallest failing case of ``verdict`` under ``folder``, and return where.

    The name follows from the case, so that the same failure found again is the same file.
    """
    identity = {
        "format": FORMAT,
        "target": target,
        "law": verdict.law,
        "kind": _kind(verdict),
        "decoder_seed": verdict.decoder_seed,
        "schedule": verdict.schedule,
        "tokens": list(verdict.tokens or ()),
    }
    # Not the message: it may name a line of the decoder's file, which moves with every edit.
    digest = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:8]
    text = json.dumps({**identity, "message": verdict.message}, indent=2) + "\n"
    slug = re.sub(r"[^A-Za-z0-9]+", "-", target)[-_SLUG:].strip("-")
    path = folder / f"{slug}-{verdict.law}-{digest}.json"
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(path, text)
    return path


def _kind(verdict: Verdict) -> str:
    if not verdict.repeatable:
        return "unrepeatable"
    return verdict.violation.kind if verdict.violation else "raised"


def stored_cases(target: str, law: str, folder: Path) -> tuple[tuple[int, Case], ...]:
    """Failures of ``law`` on ``target`` that were stored in ``folder``: decoder seeds and cases.

    Files that cannot be read as such are passed over; `replay` says what is wrong with one.
    """
    found = []
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        try:
            stored = _read(path)
            if (stored["target"], stored["law"]) == (target, law):
                case = Case(tuple(stored["tokens"]), Schedule.parse(stored["schedule"]))
                found.append((stored["decoder_seed"], case))
        except CachecheckError:
            continue
    return tuple(found)


def replay(path: Path) -> tuple[Replayed, str]:
    """Try a stored failure again, on the target as it is now.

    Returns:
        What became of it, and one line that says so.
    """
    try:
        stored = _read(path)
        law = LAWS[stored["law"]]
        case = Case(tuple(stored["tokens"]), Schedule.parse(stored["schedule"]))
        decoder = load_target(stored["target"]).make(stored["decoder_seed"])
        decoder.probe()
        _check(case, law, decoder.vocab_size)
        verdict = alone(law, Trial(stored["decoder_seed"], decoder, case))
    except CachecheckError as error:
        return Replayed.ERROR, str(error)
    where = f"{law.id} on {stored['target']}, schedule {case.schedule}"
    if verdict.answer is Answer.VIOLATED:
        return Replayed.FAILED, f"{where}: {verdict.message}"
    if verdict.answer is Answer.INCONCLUSIVE:
        return Replayed.INCONCLUSIVE, f"{where}: {verdict.message}"
    if verdict.answer is not Answer.HOLDS:
        return Replayed.ERROR, verdict.message
    if stored.get("kind") == "unrepeatable":
        line = f"{where}: right by itself, as before; it was wrong after other calls: fuzz again"
        return Replayed.ERROR, line
    return Replayed.FIXED, f"{where}: holds now, difference {verdict.largest_difference or 0:.1e}"


def _check(case: Case, law: Law, vocab_size: int) -> None:
    """Refuse a case that the law, or the decoder as it is now, has no use for."""
    if len(case.schedule.steps) < law.least_calls:
        raise InputError(
            f"{law.id} needs {law.least_calls} calls or more; the schedule is {case.schedule}"
        )
    if not law.operations and not case.schedule.plain:
        raise InputError(f"{law.id} is about calls on one branch; the schedule is {case.schedule}")
    outside = [token for token in case.tokens if not 0 <= token < vocab_size]
    if outside:
        raise InputError(f"token {outside[0]} is outside the vocabulary of {vocab_size}")


_FIELDS = {"target": str, "law": str, "decoder_seed": int, "schedule": str, "tokens": list}


def _read(path: Path) -> dict[str, Any]:
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"{path} is not a stored failure: {error}") from error
    if not isinstance(stored, dict) or stored.get("format") != FORMAT:
        raise InputError(f"{path} is not a stored failure of format {FORMAT}")
    for name, kind in _FIELDS.items():
        if not isinstance(stored.get(name), kind):
            raise InputError(f"{path}: {name} must be {kind.__name__}; got {stored.get(name)!r}")
    if stored["law"] not in LAWS:
        raise InputError(f"{path}: unknown law {stored['law']!r}; known: {', '.join(LAWS)}")
    if not all(type(token) is int for token in stored["tokens"]):
        raise InputError(f"{path}: tokens must be integers; got {stored['tokens']}")
    return stored
