"""The evidence folder: its files, their canonical bytes, and writing them whole or not at all."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json
import os
import secrets
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cachecheck.errors import EvidenceError
from cachecheck.experiment.protocol import REPORTED, Array

ARRAYS_FILE = "arrays.npz"
RESULTS_FILE = "results.json"
TABLE_FILE = "results.csv"
MANIFEST_FILE = "manifest.json"
HASHES_FILE = "sha256.json"
FILES = (ARRAYS_FILE, RESULTS_FILE, TABLE_FILE, MANIFEST_FILE, HASHES_FILE)

FIGURES_FOLDER = "figures"
FIGURE_FILES = (
    "figures/attention.png",
    "figures/later-tokens.png",
    "figures/payload.png",
    "figures/window-errors.png",
    "figures/offset-mask.png",
)
"""All of these or none."""


def json_bytes(value: Any) -> bytes:
    """The one byte form of a JSON value; the audit serialises anew and compares.

    Raises:
        ValueError: NaN or infinity. TypeError: not a JSON value.
    """
    return (json.dumps(value, indent=2, sort_keys=True, allow_nan=False) + "\n").encode("ascii")


def csv_bytes(results: Sequence[Mapping[str, Any]]) -> bytes:
    """The results as a table, one line a seed; floats in their shortest exact form."""
    text = io.StringIO()
    writer = csv.DictWriter(text, REPORTED, lineterminator="\n")
    writer.writeheader()
    writer.writerows(results)
    return text.getvalue().encode("ascii")


def npz_bytes(arrays: Mapping[str, Array]) -> bytes:
    """A compressed archive of the arrays, no pickles; the same arrays give the same bytes.

    Written by hand because `numpy.savez_compressed` has no ``allow_pickle`` in numpy 2.0: it would
    store one as an array.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, allow_pickle=False)
            info = zipfile.ZipInfo(f"{name}.npy")  # dated 1980, so that time leaves no trace
            info.external_attr = 0o644 << 16  # else unzip would make files that nobody may read
            archive.writestr(info, member.getvalue(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def digest(data: bytes) -> str:
    """SHA-256 as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def hashes_bytes(files: Mapping[str, bytes]) -> bytes:
    """The content of ``sha256.json``: a digest for every other file, by relative posix path."""
    listed = {name: digest(data) for name, data in files.items() if name != HASHES_FILE}
    return json_bytes(listed)


def write_file(path: Path, data: bytes) -> None:
    """Write a new file and flush it to the disk.

    Raises:
        EvidenceError: the system refused, with its reason.
    """
    try:
        with path.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise EvidenceError(f"cannot write {path}: {error.strerror or error}") from error


def replace_file(path: Path, data: bytes, scratch: Path) -> None:
    """Put ``data`` at ``path`` in one step; a kill leaves a ``.partial-`` file in ``scratch``.

    Args:
        path: old or new.
        data: all of it.
        scratch: a folder on the same file system.

    Raises:
        EvidenceError: the system refused, with its reason.
    """
    partial = scratch / partial_name(path.name)
    try:
        write_file(partial, data)
        partial.replace(path)
    except OSError as error:
        raise EvidenceError(f"cannot replace {path}: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)
    flush_folder(path.parent)


def partial_name(name: str) -> str:
    """A fresh name that nobody takes for a finished one."""
    return f".{name}.partial-{secrets.token_hex(6)}"


def flush_folder(folder: Path) -> None:
    """Flush a folder's entries, where the system can do that at all (Windows cannot)."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """A temporary folder beside ``out`` that becomes ``out`` if the block ends well.

    The parent must exist. Making it would leave something behind when the run then fails, and
    would turn a mistyped path into a new tree.

    Raises:
        EvidenceError: anything bears the name ``out`` already (an empty folder, a file or a
            dangling link included), the parent is not a folder, or the system refused.
    """
    _refuse_existing(out)
    if not out.parent.is_dir():
        raise EvidenceError(f"{out.parent} is not a folder; make it first, or choose another place")
    partial = out.parent / partial_name(out.name)
    try:
        _make(partial)
        yield partial
        _publish(partial, out)
    finally:  # after a good end there is nothing under this name any more
        shutil.rmtree(partial, ignore_errors=True)


def _make(folder: Path) -> None:
    try:
        folder.mkdir()  # not tempfile: its folders are closed to other users, and stay so
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        raise EvidenceError(f"cannot make a folder in {folder.parent}: {error}") from error


def _publish(partial: Path, out: Path) -> None:
    flush_folder(partial)
    _refuse_existing(out)  # again: somebody else may have finished first
    try:
        partial.rename(out)
    except OSError as error:
        raise EvidenceError(f"cannot rename the finished run to {out}: {error}") from error
    flush_folder(out.parent)


def _refuse_existing(out: Path) -> None:
    if os.path.lexists(out):
        raise EvidenceError(f"{out} exists already; evidence is never overwritten, name a new one")
