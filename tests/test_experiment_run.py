"""The run and its folder: figures, refusals, interrupts, kills.

Run with: pytest tests/test_experiment_run.py
"""

from __future__ import annotations

import csv
import errno
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cachecheck
from cachecheck.errors import EvidenceError
from cachecheck.experiment import audit, folder, measure, run

FOUND_SMALL = ("causal_future_error", "prefix_error", "cache_error", "chunk_error", "sliding_error")


@pytest.fixture(scope="session")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(tmp_path_factory.mktemp("run") / "evidence")


@pytest.fixture(scope="session")
def results(evidence: Path) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads((evidence / "results.json").read_text())
    return loaded


# What a run writes.


def test_the_published_wrong_mask_errors_come_out(results: list[dict[str, Any]]) -> None:
    found = {one["seed"]: f"{one['wrong_chunk_mask_error']:.6f}" for one in results}
    assert found == {7: "0.589838", 19: "0.739833", 41: "0.648703"}


def test_errors_of_what_must_be_equal_are_rounding(results: list[dict[str, Any]]) -> None:
    for one in results:
        assert max(one[key] for key in FOUND_SMALL) < 1e-12


def test_negative_controls_are_large(results: list[dict[str, Any]]) -> None:
    for one in results:
        assert one["unmasked_future_change"] > 0.08
        assert one["reset_position_error"] > 1
        assert one["cropped_recompute_error"] > 0.3


def test_the_folder_holds_exactly_the_five_files_and_passes(evidence: Path) -> None:
    assert sorted(path.name for path in evidence.iterdir()) == sorted(folder.FILES)
    assert audit(evidence) == []


def test_the_table_says_what_the_results_say(evidence: Path, results: list[dict[str, Any]]) -> None:
    with (evidence / "results.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [{key: float(value) for key, value in row.items()} for row in table] == results


def test_the_manifest_has_the_keys_of_the_page(evidence: Path) -> None:
    manifest = json.loads((evidence / "manifest.json").read_text())
    assert sorted(manifest) == [
        *("at", "commit", "dirty", "numpy", "protocol", "python", "sources")
    ]
    assert abs(datetime.now(UTC) - datetime.fromisoformat(manifest["at"])) < timedelta(hours=1)
    assert manifest["numpy"] == np.__version__
    assert "cachecheck/experiment/running.py" in manifest["sources"]
    wanted = {
        "seeds": [7, 19, 41],
        "length": 24,
        "dimension": 16,
        "layers": 2,
        "vocabulary": 32,
        "window": 4,
        "dtype": "float64",
        "tolerance": 1e-12,
    }
    assert wanted.items() <= manifest["protocol"].items()


def test_two_runs_differ_in_nothing_but_the_manifest(evidence: Path, tmp_path: Path) -> None:
    again = run(tmp_path / "again")
    for name in ("arrays.npz", "results.json", "results.csv"):
        assert (again / name).read_bytes() == (evidence / name).read_bytes()


def test_progress_names_each_seed_and_the_folder_is_open_to_others(tmp_path: Path) -> None:
    heard: list[str] = []
    out = run(tmp_path / "evidence", progress=heard.append)
    assert heard == ["seed 7", "seed 19", "seed 41", "writing"]
    (tmp_path / "plain").mkdir()
    assert stat.S_IMODE(out.stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


# Refusals, before any work.


EXISTING: dict[str, Callable[[Path], Any]] = {
    "an empty folder": Path.mkdir,
    "a file": Path.touch,
    "a dangling link": lambda out: out.symlink_to("nowhere"),
    "a link to a folder": lambda out: out.symlink_to(out.parent),
}


@pytest.mark.parametrize("kind", EXISTING)
def test_an_existing_name_is_refused_before_any_work(kind: str, tmp_path: Path) -> None:
    out = tmp_path / "evidence"
    EXISTING[kind](out)
    heard: list[str] = []
    with pytest.raises(EvidenceError, match="exists already"):
        run(out, progress=heard.append)
    assert heard == []
    assert [path.name for path in tmp_path.iterdir()] == ["evidence"]


@pytest.mark.parametrize(
    ("out", "message"),
    [("missing/evidence", "is not a folder"), ("e" * 250, "cannot make"), ("a\0b", "cannot make")],
)
def test_an_impossible_place_is_refused_before_any_work(
    out: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(EvidenceError, match=message):
        run(tmp_path / out, progress=_fail)
    assert list(tmp_path.iterdir()) == []


def _fail(line: str) -> None:
    raise AssertionError(line)


def test_a_name_taken_while_running_is_not_overwritten(tmp_path: Path) -> None:
    out = tmp_path / "evidence"
    with pytest.raises(EvidenceError, match="exists already"):
        run(out, progress=lambda line: out.mkdir() if line == "writing" else None)
    assert list(tmp_path.iterdir()) == [out]
    assert list(out.iterdir()) == []


# Interrupts, failures and kills.


@pytest.fixture(scope="session")
def measured() -> dict[int, Any]:
    return {seed: measure.measure(seed) for seed in (7, 19, 41)}


@pytest.fixture
def quick_measure(measured: dict[int, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Hands back the arrays already computed: these tests are about files."""
    monkeypatch.setattr(measure, "measure", measured.__getitem__)


@pytest.mark.usefixtures("quick_measure")
@pytest.mark.parametrize("at", ["seed 7", "seed 41", "writing"])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, ZeroDivisionError])
def test_an_interrupt_between_steps_leaves_nothing(
    at: str, kind: type[BaseException], tmp_path: Path
) -> None:
    def stop(line: str) -> None:
        if line == at:
            raise kind

    with pytest.raises(kind):
        run(tmp_path / "evidence", progress=stop)
    assert list(tmp_path.iterdir()) == []


def raise_at(monkeypatch: pytest.MonkeyPatch, call: int, error: BaseException) -> None:
    """Let the ``call``-th flush raise: five files, then the folder, then its parent."""
    real, calls = os.fsync, iter(range(1, 100))

    def fsync(handle: int) -> None:
        if next(calls) == call:
            raise error
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)


@pytest.mark.usefixtures("quick_measure")
@pytest.mark.parametrize("call", range(1, 8))
def test_an_interrupt_while_writing_leaves_nothing_or_all(
    call: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raise_at(monkeypatch, call, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "evidence")
    if call < 7:
        assert list(tmp_path.iterdir()) == []
    else:  # the name is there already; only the flush of its parent was missed
        assert list(tmp_path.iterdir()) == [tmp_path / "evidence"]
        assert audit(tmp_path / "evidence") == []


@pytest.mark.usefixtures("quick_measure")
def test_a_full_disk_is_one_clear_line_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raise_at(monkeypatch, 3, OSError(errno.ENOSPC, "No space left on device"))
    with pytest.raises(EvidenceError, match=r"cannot write .*No space left on device"):
        run(tmp_path / "evidence")
    assert list(tmp_path.iterdir()) == []


KILLER = """
import functools, os, signal, sys, time
from pathlib import Path
from cachecheck.experiment import measure, run

parent, moments = Path(sys.argv[1]), int(sys.argv[2])

def child(name, flushes=None):
    pid = os.fork()
    if pid == 0:
        real, calls = os.fsync, iter(range(1, 100))
        def fsync(handle):
            if next(calls) == flushes:
                os.kill(os.getpid(), signal.SIGKILL)
            real(handle)
        os.fsync = fsync
        run(parent / name)
        os._exit(0)
    return pid

start = time.perf_counter()
os.waitpid(child("whole"), 0)
whole = time.perf_counter() - start
for moment in range(moments):
    pid = child(f"timed-{moment}")
    time.sleep(1.1 * whole * moment / (moments - 1))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
measure.measure = functools.cache(measure.measure)  # the files alone matter from here on
for seed in (7, 19, 41):
    measure.measure(seed)
for flushes in range(1, 9):
    os.waitpid(child(f"flush-{flushes}", flushes), 0)
"""
"""Forked, not started anew, so that delays are spread over the run and not over its imports."""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked runs")
def test_a_kill_at_any_moment_leaves_no_half_written_folder(tmp_path: Path) -> None:
    root = str(Path(cachecheck.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": root, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", KILLER, str(tmp_path), "12"]
    subprocess.run(command, check=True, env=environment, timeout=120)
    names = ["whole", *(f"timed-{k}" for k in range(12)), *(f"flush-{k}" for k in range(1, 9))]
    there = {name for name in names if os.path.lexists(tmp_path / name)}
    assert all(audit(tmp_path / name) == [] for name in there)
    # Killed in any flush before the rename nothing is there, from then on all of it.
    assert {name for name in there if name.startswith("flush")} == {"flush-7", "flush-8"}
    assert "whole" in there
    left = {path.name for path in tmp_path.iterdir()} - there
    assert left  # the kills did hit runs in the middle
    assert all(name.startswith(".") and ".partial-" in name for name in left)
