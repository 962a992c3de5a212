"""Failures as files: what is stored, how it is written, and how it is read back."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from cachecheck.errors import CachecheckError, InputError
from cachecheck.files import Stored, write_whole
from cachecheck.laws import LAWS
from cachecheck.replay.project import import_paths_in, place_of
from cachecheck.schedule import Case, Schedule
from cachecheck.verdict import Verdict

_SLUG = 80  # characters of the target's name in a file's name; file systems stop at 255
_MOST_STEPS = 10_000  # of a stored schedule: what is stored is small, or was on its way to be


@dataclass(frozen=True)
class Failure:
    """A failing case as it is stored.

    Attributes:
        target: name of the decoder; a file's path is relative to the project's root folder.
        law: id of the law it breaks.
        kind: which of the law's comparisons failed; ``raised`` where the decoder raised.
        decoder_seed: of the decoder.
        schedule: in the notation.
        tokens: in order of the calls.
        message: what was said of it.
        import_paths: folders below the root folder that the decoder's code was imported from.
    """

    target: str
    law: str
    kind: str
    decoder_seed: int
    schedule: str
    tokens: tuple[int, ...]
    message: str = ""
    import_paths: tuple[str, ...] = ()

    @property
    def case(self) -> Case:
        """The schedule with its tokens.

        Raises:
            InputError: no schedule, one that is too long, or not one for these tokens.
        """
        steps = self.schedule.count("+") + len(self.schedule.split())
        if steps > _MOST_STEPS:
            raise InputError(
                f"its schedule has {steps:,} steps; a stored failure has at most {_MOST_STEPS:,}: "
                "make it smaller with cachecheck shrink"
            )
        try:
            return Case(self.tokens, Schedule.parse(self.schedule))
        except InputError:
            raise
        except ValueError as error:  # a number too long for Python to read
            raise InputError(f"its schedule cannot be read: {error}") from error


FAILURE = Stored("failure", 2, Failure)


def save_failure(verdict: Verdict, target: str, folder: Path) -> Path:
    """Write the smallest failing case of ``verdict`` into ``folder``, and return the file's path.

    The file's name follows from the case, so that the same failure found again is the same file.

    Args:
        verdict: one that has a failing case.
        target: as `load_target` takes it.
        folder: made if it is not there.

    Raises:
        OSError: it cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    place = place_of(target, folder)
    failure = Failure(
        target=place.target,
        law=verdict.law,
        kind=verdict.violation.kind if verdict.violation else "raised",
        decoder_seed=verdict.decoder_seed or 0,
        schedule=verdict.schedule or "",
        tokens=verdict.tokens or (),
        message=verdict.message,
        import_paths=() if place.root is None else import_paths_in(place.root),
    )
    path = folder / _file_name(failure)
    write_whole(path, FAILURE.encode(failure))
    return path


def read_failure(path: Path) -> Failure:
    """The failure that is stored at ``path``, by this release or by one before it.

    Raises:
        InputError: it cannot be read, is something else, or is of a law that is not known.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    failure = FAILURE.decode(_with_todays_head(content), path)
    if failure.law not in LAWS:
        raise InputError(f"{path}: unknown law {failure.law!r}; known: {', '.join(LAWS)}")
    return failure


def stored_cases(target: str, law: str, folder: Path) -> tuple[tuple[int, Case], ...]:
    """Failures of ``law`` on ``target`` that were stored in ``folder``: decoder seeds and cases.

    Files that cannot be read as such are passed over; `replay` says what is wrong with one.
    """
    if not folder.is_dir():
        return ()
    name, found = place_of(target, folder).target, []
    for path in sorted(folder.glob("*.json")):
        try:
            failure = read_failure(path)
            if (failure.target, failure.law) == (name, law):
                found.append((failure.decoder_seed, failure.case))
        except CachecheckError:
            continue
    return tuple(found)


def replay_arguments(path: Path, target: str) -> str:
    """The words after ``cachecheck replay`` that try the failure at ``path`` again.

    Code outside the project is run only where the command line names it.
    """
    here = Path.cwd()
    shown = path.relative_to(here) if path.is_relative_to(here) else path
    place = place_of(target, path.parent)
    outside = place.by_file and place.root is None
    return shlex.join([str(shown), *(("--target", target) if outside else ())])


def _file_name(failure: Failure) -> str:
    """A readable beginning, and a digest of the case.

    The digest leaves the message out, which may name a line of the decoder's file and so move with
    every edit; its form is that of the first releases, so that what they stored keeps its name.
    """
    case = {
        "format": 1,
        "target": failure.target,
        "law": failure.law,
        "kind": failure.kind,
        "decoder_seed": failure.decoder_seed,
        "schedule": failure.schedule,
        "tokens": list(failure.tokens),
    }
    digest = hashlib.sha256(json.dumps(case).encode()).hexdigest()[:8]
    slug = re.sub(r"[^A-Za-z0-9]+", "-", failure.target)[-_SLUG:].strip("-")
    return f"{slug}-{failure.law}-{digest}.json"


def _with_todays_head(content: bytes) -> bytes:
    """A file of format 1, which releases up to 0.4 wrote, with today's head; others as they are."""
    try:
        stored = json.loads(content)
    except (ValueError, RecursionError):
        return content  # no JSON: for the codec to say
    if not isinstance(stored, dict) or stored.get("format") != 1:
        return content
    head = {"cachecheck": FAILURE.name, "version": FAILURE.version}
    return json.dumps({"kind": "", **stored, **head}).encode()  # the kind came in later
