"""Virtual environments that hold old releases, made with pip where they are not there yet.

torch is large and the releases of transformers are many, so that it is installed once, into a base
environment beside what cachecheck needs. Every other environment holds one release and what that
release asks for, and a ``.pth`` file with the path of the base's packages: what the base has in a
version that fits is used from there, what does not fit lies in front of it. cachecheck itself is
not installed; it runs from this checkout.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
TORCH = "2.13.0"
_DONE = "complete"  # a file that is written last: an environment without it is made again


@dataclass(frozen=True)
class Environments:
    """A folder of environments, one for each release asked for."""

    folder: Path

    def python(self, package: str, version: str) -> Path:
        """The interpreter of the environment that has this release; made at the first call.

        Raises:
            RuntimeError: pip could not install it, with pip's last line.
        """
        base = self._made(f"torch-{TORCH}", [f"torch=={TORCH}", *_needs()], None)
        if package == "torch":
            return _python(base)
        return _python(self._made(f"{package}-{version}", [f"{package}=={version}"], base))

    def _made(self, name: str, requirements: list[str], base: Path | None) -> Path:
        place = self.folder / name
        if (place / _DONE).is_file():
            return place
        print(f"making {name}", file=sys.stderr)
        venv.create(place, clear=True, with_pip=base is None)
        if base is not None:
            (_packages(place) / "base.pth").write_text(f"{_packages(base)}\n")
        pip = [str(_python(base or place)), "-m", "pip", "--python", str(_python(place))]
        command = [*pip, "install", "-q", *requirements]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise RuntimeError(f"{name} could not be installed: {last}")
        (place / _DONE).touch()
        return place


def surroundings() -> dict[str, str]:
    """Environment variables of a run: this checkout in front, one thread, and no downloads."""
    threads = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    offline = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
    return {**os.environ, **threads, **offline, "PYTHONPATH": str(ROOT)}


def _needs() -> list[str]:
    """The requirements of cachecheck itself."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return list(project["dependencies"])


def _python(place: Path) -> Path:
    return place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _packages(place: Path) -> Path:
    """The folder of the packages in an environment of the running interpreter's version."""
    if os.name == "nt":
        return place / "Lib" / "site-packages"
    major, minor = sys.version_info[:2]
    return place / "lib" / f"python{major}.{minor}" / "site-packages"
