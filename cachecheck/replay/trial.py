"""A stored failure tried again, on the decoder as it is now."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path

from cachecheck.errors import CachecheckError, InputError
from cachecheck.judge import Trial, alone
from cachecheck.laws import LAWS, Law
from cachecheck.replay.failure import Failure, read_failure
from cachecheck.replay.project import import_from, roots_of
from cachecheck.schedule import Case
from cachecheck.target import Target, load_target
from cachecheck.verdict import Answer, Verdict

_MOST_SHOWN = 500  # characters of a line; a long schedule says nothing to a reader


class Replayed(StrEnum):
    """The ends that a second trial can have."""

    FIXED = "FIXED"
    FAILED = "FAILED"
    INCONCLUSIVE = "INCONCLUSIVE"
    REFUSED = "REFUSED"
    ERROR = "ERROR"


def replay(path: Path, target: str | None = None) -> tuple[Replayed, str]:
    """Try a stored failure again, on the decoder as it is now.

    Args:
        path: of the stored failure.
        target: name of the decoder to try it on; None: the one that the file names, which must
            lie in the file's project.

    Returns:
        What became of it, and one line that says so.
    """
    try:
        failure = read_failure(path)
        law, case = LAWS[failure.law], failure.case
        loaded = load_target(target) if target else _stored_target(failure, path)
        decoder = loaded.make(failure.decoder_seed)
        decoder.probe()
        _check(case, law, decoder.vocab_size)
        verdict = alone(law, Trial(failure.decoder_seed, decoder, case))
    except CachecheckError as error:
        return Replayed.ERROR, _shortened(str(error))
    answer, said = _answer(verdict, failure)
    where = f"{law.id} on {target or failure.target}, schedule {_shortened(str(case.schedule))}"
    return answer, f"{where}: {said}"


def _answer(verdict: Verdict, failure: Failure) -> tuple[Replayed, str]:
    """Turn the verdict on the stored case into an answer, and into words."""
    if verdict.answer is Answer.VIOLATED:
        return Replayed.FAILED, verdict.message
    if verdict.answer is Answer.INCONCLUSIVE:
        return Replayed.INCONCLUSIVE, verdict.message
    if verdict.answer is Answer.UNSUPPORTED:
        return Replayed.REFUSED, f"{verdict.message}; the decoder refuses this case now"
    if verdict.answer is not Answer.HOLDS:
        return Replayed.ERROR, verdict.message
    if not failure.repeatable:
        said = "right by itself, as before; it was wrong after other calls: fuzz again"
        return Replayed.ERROR, said
    return Replayed.FIXED, f"holds now, difference {verdict.largest_difference or 0:.1e}"


def _stored_target(failure: Failure, path: Path) -> Target:
    """The decoder that a stored failure names, if its code is the project's or is installed.

    Raises:
        InputError: it names code outside the project.
        TargetError: it cannot be loaded.
    """
    where, _, member = failure.target.rpartition(":")
    roots = roots_of(path.parent)
    if where.endswith(".py"):
        root, file = _file_inside(where, roots)
        import_from(root, failure.import_paths)
        return load_target(f"{file}:{member}")
    top = where.partition(".")[0]
    if top in sys.stdlib_module_names:
        raise InputError(f"{failure.target} is Python's own code, which has no decoder")
    for root in roots:
        if any(_holds(root / one, top) for one in failure.import_paths):
            import_from(root, failure.import_paths)
            break
    return load_target(failure.target)


def _file_inside(where: str, roots: list[Path]) -> tuple[Path, Path]:
    """A root folder, and the file ``where`` inside it; the first of ``roots`` that has it.

    Raises:
        InputError: it lies outside of all, or none of them has it.
    """
    found = [(root, (root / where).resolve()) for root in roots]
    inside = [(root, file) for root, file in found if file.is_relative_to(root)]
    projects = " and ".join(map(str, roots)) or "any"
    if not inside:
        raise InputError(
            f"{where} lies outside the project ({projects}), and a stored file alone is no reason "
            "to run it; if you trust it, name it on the command line: --target path/file.py:name"
        )
    for root, file in inside:
        if file.is_file():
            return root, file
    raise InputError(
        f"no file {where} in {projects}; name the decoder as it is now: --target path/file.py:name"
    )


def _holds(folder: Path, module: str) -> bool:
    """True if Python would find a top-level module in ``folder``."""
    return (folder / f"{module}.py").is_file() or (folder / module).is_dir()


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


def _shortened(text: str) -> str:
    """``text`` as one line that can be printed, without its middle if it is long."""
    line = "".join(one if one.isprintable() else "?" for one in " ".join(text.split()))
    half = _MOST_SHOWN // 2
    return line if len(line) <= _MOST_SHOWN else f"{line[:half]} ... {line[-half:]}"
