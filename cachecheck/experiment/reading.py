"""Reading an evidence folder that may be damaged or hostile: values and problems, no tracebacks."""

from __future__ import annotations

import io
import json
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cachecheck.errors import EvidenceError
from cachecheck.experiment.folder import (
    ARRAYS_FILE,
    FIGURE_FILES,
    FIGURES_FOLDER,
    FILES,
    json_bytes,
)
from cachecheck.experiment.problem import Problem, printable
from cachecheck.experiment.protocol import ARRAYS, SEEDS, Array, array_name

LARGEST_FILE = 32 * 2**20
"""Bytes. An honest folder holds well under 1 MiB; more is refused before it is read."""

LARGEST_ARRAY = 2**16
"""Bytes of one array with its header, unpacked; the largest honest one needs 4736."""


def read_folder(folder: Path) -> tuple[dict[str, bytes], list[Problem]]:
    """The expected files' contents by relative posix path, and what is wrong with the set.

    Raises:
        EvidenceError: there is no such folder, or it may not be listed.
    """
    try:
        if not folder.is_dir():
            raise EvidenceError(f"{folder} is not a folder; expected one that a run has written")
        found = dict(_entries(folder))
    except OSError as error:
        raise EvidenceError(f"cannot list {folder}: {error.strerror or error}") from error
    drawn = any(name.startswith(f"{FIGURES_FOLDER}/") for name in found)
    expected = FILES + (FIGURE_FILES if drawn or FIGURES_FOLDER in found else ())
    problems = [Problem("files", name, "missing") for name in expected if name not in found]
    contents: dict[str, bytes] = {}
    for name, path in sorted(found.items()):
        if name not in expected:
            where = printable(name)
            problems.append(Problem("files", where, "does not belong in an evidence folder"))
            continue
        data = _read(path)
        if isinstance(data, bytes):
            contents[name] = data
        else:
            problems.append(Problem("files", name, data))
    return contents, problems


def _entries(folder: Path) -> Iterator[tuple[str, Path]]:
    """Everything in the folder and one level into ``figures``, by relative posix path."""
    for path in folder.iterdir():
        if path.name == FIGURES_FOLDER and path.is_dir() and not path.is_symlink():
            inside = [(f"{FIGURES_FOLDER}/{inner.name}", inner) for inner in path.iterdir()]
            yield from inside or [(FIGURES_FOLDER, path)]
        else:
            yield path.name, path


def _read(path: Path) -> bytes | str:
    """The file's content, or why not."""
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):  # a link's target lies outside the evidence
            return "is not a regular file"
        if status.st_size > LARGEST_FILE:
            return f"has {status.st_size} bytes; at most {LARGEST_FILE} are read"
        return path.read_bytes()
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"


def parse_json(name: str, data: bytes) -> tuple[Any, list[Problem]]:
    """The value in a JSON file (None if there is none), which must be in canonical form."""
    try:
        value = json.loads(data.decode("utf-8"))
        canonical = json_bytes(value)
    except (ValueError, RecursionError) as error:
        return None, [Problem("canonical", name, f"is not the JSON a run writes: {_short(error)}")]
    if canonical != data:
        return value, [Problem("canonical", name, "differs from its own value written again")]
    return value, []


def parse_arrays(data: bytes) -> tuple[dict[str, Array], list[Problem]]:
    """The archive's arrays that are as they should be, and what is wrong with the others."""
    arrays: dict[str, Array] = {}
    expected = {array_name(seed, name): ARRAYS[name] for seed in SEEDS for name in ARRAYS}
    members, complaint = _members(data)
    if complaint:
        return {}, [Problem("arrays", ARRAYS_FILE, complaint)]
    foreign = sorted(members.keys() - expected.keys())
    problems = [_problem(name, "does not belong in the archive") for name in foreign]
    for name, (dtype, shape) in expected.items():
        array = members.get(name, "is missing")
        if isinstance(array, str):
            problems.append(_problem(name, array))
        elif array.dtype != np.dtype(dtype) or array.shape != shape:
            problems.append(
                _problem(name, f"expected {dtype} {shape}; got {array.dtype} {array.shape}")
            )
        elif not np.isfinite(array).all():
            problems.append(_problem(name, "holds NaN or infinity"))
        else:
            arrays[name] = array
    return arrays, problems


def _members(data: bytes) -> tuple[dict[str, Array | str], str]:
    """The archive's members by name, each an array or what is wrong with it; and a complaint."""
    members: dict[str, Array | str] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for info in archive.infolist():
                name = info.filename.removesuffix(".npy")
                if name in members or name == info.filename:
                    return {}, f"holds {info.filename!r} twice, or not as an .npy file"
                members[name] = _load(archive, info)
    # A damaged archive raises nearly anything (BadZipFile, zlib.error, NotImplementedError,
    # RuntimeError for a password, EOFError, ...), and each is an answer, not a crash.
    except Exception as error:  # noqa: BLE001
        return {}, f"is not a readable archive: {_short(error)}"
    return members, ""


def _load(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Array | str:
    if info.file_size > LARGEST_ARRAY:
        return f"unpacks to {info.file_size} bytes; at most {LARGEST_ARRAY} are read"
    try:
        stream = io.BytesIO(archive.read(info))
        array = np.load(stream, allow_pickle=False)
    except Exception as error:  # noqa: BLE001 - as above, and numpy's own parser of headers
        return f"cannot be read: {_short(error)}"
    if stream.read():
        return "has bytes behind the array"
    return array if isinstance(array, np.ndarray) else "is not one array"


def _problem(name: str, message: str) -> Problem:
    return Problem("arrays", f"{ARRAYS_FILE}: {printable(name)}", message)


def _short(error: BaseException) -> str:
    """The first line of an error, of bounded length, with its kind."""
    first = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {first[:120]}"
