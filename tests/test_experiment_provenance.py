"""Commit, dirtiness and source hashes of a run: pytest tests/test_experiment_provenance.py."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from cachecheck.experiment import provenance


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with a linked folder, in a checkout where all of it is committed."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    package = tmp_path / "checkout" / "cachecheck"
    package.mkdir(parents=True)
    (package / "errors.py").write_bytes(b"one\ntwo\n")
    (package.parent / "strategies").mkdir()
    (package.parent / "strategies" / "lengths.py").write_bytes(b"three\n")
    (package / "strategies").symlink_to("../strategies")
    git(package.parent, "init", "--quiet")
    git(package.parent, "add", ".")
    git(package, "commit", "--quiet", "--message", "all of it")
    return package


def git(where: Path, *arguments: str) -> None:
    names = ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.com"]
    names += ["-c", "commit.gpgsign=false"]
    clean = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    git = shutil.which("git") or "git"
    subprocess.run([git, "-C", str(where), *names, *arguments], check=True, env=clean)


def test_a_committed_package_has_a_commit_and_is_clean(package: Path) -> None:
    commit, dirty = provenance.git_state(package)
    assert commit is not None
    assert len(commit) in (40, 64)
    assert dirty is False


@pytest.mark.parametrize(
    ("change", "dirty"),
    [
        ("cachecheck/errors.py", True),
        ("cachecheck/new.py", True),
        ("strategies/lengths.py", True),
        ("strategies/new.py", True),
        ("evidence/results.json", False),  # a folder being written says nothing about the code
    ],
)
def test_dirty_speaks_of_the_sources_alone(package: Path, change: str, dirty: bool) -> None:
    path = package.parent / change
    path.parent.mkdir(exist_ok=True)
    path.write_text("changed\n")
    assert provenance.git_state(package)[1] is dirty


def test_the_checkout_of_a_git_hook_is_not_taken_for_ours(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = provenance.git_state(package)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert provenance.git_state(package) == expected


def test_a_package_that_its_checkout_does_not_track_has_no_commit(package: Path) -> None:
    installed = package.parent / "environment" / "cachecheck"
    shutil.copytree(package, installed)
    assert provenance.git_state(installed) == (None, None)


def test_outside_a_checkout_or_without_git_there_is_no_commit(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    assert provenance.git_state(outside) == (None, None)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert provenance.git_state(package) == (None, None)


def test_source_hashes_follow_links_once_and_ignore_line_ends(package: Path) -> None:
    before = provenance.source_hashes(package)
    assert sorted(before) == ["cachecheck/errors.py", "cachecheck/strategies/lengths.py"]
    (package / "errors.py").write_bytes(b"one\r\ntwo\r")
    (package / "round").symlink_to(".")
    assert provenance.source_hashes(package) == before
    (package / "errors.py").write_bytes(b"one\ntoo\n")
    assert provenance.source_hashes(package) != before
