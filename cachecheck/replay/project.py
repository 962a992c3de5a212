"""The project that a stored failure belongs to, and where its decoder lies in it.

A stored failure names the decoder's file from the root folder of the project, so that it can be
tried again in any working directory. Which folder that is follows from where the stored file lies,
or from the working directory; never from what the file says. A file that came from elsewhere must
not choose which code is run.
"""

from __future__ import annotations

import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from cachecheck.errors import InputError

_REPOSITORY = (".git", ".hg")
_SETTINGS = ("pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "pytest.toml", "tox.ini")
_STORE = ("evidence", "regressions")
_LIBRARIES = ("stdlib", "platstdlib", "purelib", "platlib")
_PACKAGES = {"site-packages", "dist-packages"}


@dataclass(frozen=True)
class Place:
    """A decoder as a stored failure names it.

    Attributes:
        target: its name; that of a file is relative to ``root``, or whole where there is none.
        root: the root folder of the project that holds its code; None: outside of the project, or
            no code of a project at all (``reference``, ``hf:llama``, an installed package).
    """

    target: str
    root: Path | None

    @property
    def by_file(self) -> bool:
        """True if it is the name of a file and a member."""
        return self.target.rpartition(":")[0].endswith(".py")


def roots_of(folder: Path) -> list[Path]:
    """The root folders that a failure stored in ``folder`` may belong to, the likeliest first.

    The repository around it; without one the nearest folder with a ``pyproject.toml`` or other
    settings; without any the folder whose ``evidence/regressions`` it is. Then the same for the
    working directory, which itself will do, unless it is the root of the file system.
    """
    folder, here = folder.resolve(), Path.cwd().resolve()
    stored = _project_around(folder)
    if stored is None and folder.parts[-2:] == _STORE:
        stored = folder.parent.parent
    working = _project_around(here) or (here if here != here.parent else None)
    return list(dict.fromkeys(root for root in (stored, working) if root is not None))


def place_of(target: str, folder: Path) -> Place:
    """Find the code of the decoder ``target``, for a failure that is stored in ``folder``.

    Args:
        target: as `load_target` takes it, a file's path relative to the working directory.
        folder: of the stored file.
    """
    where, _, member = target.rpartition(":")
    if where.endswith(".py"):
        path = Path(where).resolve()
        for root in roots_of(folder):
            if path.is_relative_to(root):
                return Place(f"{path.relative_to(root).as_posix()}:{member}", root)
        return Place(f"{path.as_posix()}:{member}", None)
    file = getattr(sys.modules.get(where), "__file__", None)
    if file is not None and not installed(Path(file)):
        for root in roots_of(folder):
            if Path(file).resolve().is_relative_to(root):
                return Place(target, root)
    return Place(target, None)


def import_paths_in(root: Path) -> tuple[str, ...]:
    """The folders inside ``root`` that Python imports from now, relative to it, in their order."""
    found = []
    for entry in sys.path:
        path = Path(entry or ".").resolve()
        if path.is_dir() and path.is_relative_to(root) and not installed(path):
            found.append(path.relative_to(root).as_posix())
    return tuple(dict.fromkeys(found))


def import_from(root: Path, import_paths: tuple[str, ...]) -> None:
    """Have Python import from these folders inside ``root`` as well, before all others.

    Raises:
        InputError: one lies outside.
    """
    inside = [(root / one).resolve() for one in import_paths]
    for path, said in zip(inside, import_paths, strict=True):
        if not path.is_relative_to(root):
            raise InputError(f"the import path {said} lies outside the project {root}")
    known = {str(Path(entry or ".").resolve()) for entry in sys.path}
    sys.path[:0] = [str(path) for path in inside if str(path) not in known]


def installed(path: Path) -> bool:
    """True if it belongs to Python or to an installed package, and not to a project."""
    here = path.resolve()
    libraries = {Path(sysconfig.get_path(name)).resolve() for name in _LIBRARIES}
    return bool(_PACKAGES & set(here.parts)) or any(here.is_relative_to(one) for one in libraries)


def _project_around(folder: Path) -> Path | None:
    """The repository that ``folder`` is in, else the nearest folder with a project's settings."""
    for marks in (_REPOSITORY, _SETTINGS):
        for around in (folder, *folder.parents):
            if any((around / mark).exists() for mark in marks):
                return around
    return None
