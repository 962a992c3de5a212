"""The origin of a run's numbers: versions, commit, and a hash of every source file."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import cachecheck
from cachecheck.errors import EvidenceError
from cachecheck.experiment.folder import digest
from cachecheck.experiment.protocol import parameters


def manifest() -> dict[str, Any]:
    """The manifest of a run that happens now, JSON values only."""
    package = Path(cachecheck.__file__).parent
    commit, dirty = git_state(package)
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "commit": commit,
        "dirty": dirty,
        "sources": source_hashes(package),
        "protocol": parameters(),
    }


def source_hashes(package: Path) -> dict[str, str]:
    """SHA-256 of each ``.py`` file, by posix path from the package's parent.

    Line ends are normalised first, so that a checkout on Windows has the same hashes. Links are
    followed (``strategies`` is one in a checkout), each real folder once.

    Raises:
        EvidenceError: a file cannot be read.
    """
    hashes: dict[str, str] = {}
    visited: set[str] = set()
    for folder, subfolders, names in os.walk(package, followlinks=True):
        real = os.path.realpath(folder)
        if real in visited:  # a link to a folder above would otherwise go round
            subfolders.clear()
            continue
        visited.add(real)
        for name in names:
            if name.endswith(".py"):
                path = Path(folder, name)
                text = _read(path).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
                hashes[path.relative_to(package.parent).as_posix()] = digest(text)
    return hashes


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise EvidenceError(f"cannot hash the source {path}: {error.strerror or error}") from error


def git_state(package: Path) -> tuple[str | None, bool | None]:
    """The commit that the package's sources are in, and True if they differ from it.

    ``dirty`` speaks of the package's folders alone (the link's target included): an evidence
    folder being written elsewhere in the checkout says nothing about the code.

    Returns:
        (None, None) without git, outside a checkout, or where the checkout around the package
        does not track it (an environment inside somebody else's project).
    """
    folders = sorted({package.resolve(), (package / "strategies").resolve()})
    commit = _git(package.resolve(), "rev-parse", "HEAD")
    if (
        commit is None
        or _git(package.resolve(), "ls-files", "--error-unmatch", "errors.py") is None
    ):
        return None, None
    changes = [
        _git(folder, "status", "--porcelain", "--untracked-files=all", "--", ".")
        for folder in folders
        if folder.is_dir()
    ]
    if None in changes:
        return None, None
    return commit.strip(), any(changes)


def _git(folder: Path, *arguments: str) -> str | None:
    """The output of git, or None if there is no git or it refuses."""
    git = shutil.which("git")
    if git is None:
        return None
    # Inside a git hook these variables point at the repository that the hook runs for.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    try:
        done = subprocess.run(
            [git, "--no-optional-locks", "-C", str(folder), *arguments],
            capture_output=True,
            check=True,
            text=True,
            timeout=20,
            env=environment,
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return done.stdout
