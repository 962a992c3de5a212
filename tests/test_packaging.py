"""The wheel and the source distribution: built, taken elsewhere, and used there.

Without support for links, git checks ``cachecheck/strategies`` out as a small text file, and the
wheel that is built then lacks the strategies without any complaint.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent


def test_the_strategies_link_is_a_link() -> None:
    link = ROOT / "cachecheck" / "strategies"
    if not (ROOT / "strategies").exists():
        pytest.skip("a source distribution holds the folder itself")
    assert link.is_symlink(), "git checked the link out as a file: set core.symlinks to true"
    assert str(link.readlink()) == "../strategies"


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", str(ROOT), "--no-deps", "-q", "-w", str(folder)],
        check=True,
    )
    (wheel,) = folder.glob("kv_cachecheck-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_the_wheel_holds_every_file_of_the_package(unpacked: Path) -> None:
    def files(root: Path) -> set[str]:
        found = [*root.rglob("*.py"), *(root / "strategies").glob("*.py")]
        return {str(path.relative_to(root)) for path in found}

    assert files(unpacked / "cachecheck") == files(ROOT / "cachecheck")
    assert not (unpacked / "strategies").exists()
    assert not (unpacked / "cachecheck" / "strategies").is_symlink()
    assert (unpacked / "cachecheck" / "py.typed").exists()


def test_the_wheel_works_elsewhere(unpacked: Path, tmp_path: Path) -> None:
    code = (
        "import cachecheck.strategies as cs, cachecheck.cli, pathlib, sys\n"
        f"assert pathlib.Path(cs.__file__).is_relative_to({str(unpacked)!r}), cs.__file__\n"
        "options = ['--law', 'programs', '--examples', '5']\n"
        "sys.exit(cachecheck.cli.main(['fuzz', 'reference', *options]))\n"
    )
    environment = {"PYTHONPATH": str(unpacked), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "laws hold" in done.stdout
    assert list(tmp_path.iterdir()) == [], "nothing is left behind where it ran"


def test_a_users_own_strategies_module_is_left_alone(unpacked: Path, tmp_path: Path) -> None:
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "strategies.py").write_text("mine = 1\n")
    (tests / "test_mine.py").write_text(
        "from strategies import mine\n"
        "from cachecheck.strategies import seeds\n"
        "def test_both(): assert mine == 1 and seeds()\n"
    )
    arguments = ["-p", "cachecheck.pytest_plugin", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=tmp_path,
        env={"PYTHONPATH": str(unpacked), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@dataclass(frozen=True)
class Elsewhere:
    """A source distribution, unpacked, and an environment that it was installed into.

    Attributes:
        folder: with ``tests`` in it.
        binaries: of the environment, ``pytest`` among them.
    """

    folder: Path
    binaries: Path

    def run(self, *command: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment; nothing of the checkout is on its path."""
        clean = {
            name: value
            for name, value in os.environ.items()
            if name not in ("PYTHONPATH", "VIRTUAL_ENV") and not name.startswith("PYTEST")
        }
        program, *arguments = command
        return subprocess.run(
            [str(self.binaries / program), *arguments],
            cwd=cwd or self.folder, env=clean, capture_output=True, text=True, check=False,
        )  # fmt: skip


def fresh_environment(folder: Path, *requirements: str) -> Path:
    """The folder of programs of a new virtual environment that has these packages."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    binaries = folder / ("Scripts" if os.name == "nt" else "bin")
    subprocess.run(
        [str(binaries / "python"), "-m", "pip", "install", "--quiet", *requirements], check=True
    )
    return binaries


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Elsewhere:
    """The source distribution as a packager has it: no checkout, no git, base packages alone."""
    folder = tmp_path_factory.mktemp("sdist")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    builder = fresh_environment(folder / "builder", *project["build-system"]["requires"])
    subprocess.run(
        [str(builder / "python"), "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)],
        cwd=ROOT, check=True,
    )  # fmt: skip
    (archive,) = folder.glob("kv_cachecheck-*.tar.gz")
    shutil.unpack_archive(archive, folder, filter="data")
    binaries = fresh_environment(folder / "environment", str(archive))
    return Elsewhere(folder / archive.name.removesuffix(".tar.gz"), binaries)


def test_the_source_distribution_has_the_strategies_within_the_package_alone(
    elsewhere: Elsewhere,
) -> None:
    names = {path.name for path in (ROOT / "cachecheck" / "strategies").glob("*.py")}
    inside = elsewhere.folder / "cachecheck" / "strategies"
    assert {path.name for path in inside.glob("*.py")} == names
    assert not inside.is_symlink()
    assert not (elsewhere.folder / "strategies").exists()


def test_the_source_distribution_has_every_test(elsewhere: Elsewhere) -> None:
    def files(root: Path) -> set[str]:
        return {str(path.relative_to(root)) for path in (root / "tests").rglob("*.py")}

    assert files(elsewhere.folder) == files(ROOT)


def test_its_tests_pass_against_the_installed_package(elsewhere: Elsewhere) -> None:
    asked = elsewhere.run(
        "python", "-c", "import cachecheck; print(cachecheck.__file__)", cwd=elsewhere.binaries
    )
    assert Path(asked.stdout.strip()).is_relative_to(elsewhere.binaries.parent), asked.stderr
    # The program, not python -m pytest: it finds the plugin, and with it the package, installed.
    done = elsewhere.run("pytest", "-x", "-q", "-rs", "-n", "2")
    assert done.returncode == 0, done.stdout[-6000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed
    assert int(passed[1]) > 1000, done.stdout[-6000:]  # the suite, and not a corner of it
