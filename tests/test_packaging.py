"""The wheel holds what the checkout shows: built, unpacked elsewhere and imported there.

Without support for links, git checks ``cachecheck/strategies`` out as a small text file, and the
wheel that is built then lacks the strategies without any complaint.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
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
