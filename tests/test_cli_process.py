"""The command line as a process of its own: start-up, workers, interrupts, the user's folder.

Few and slow (a second or two each): whatever needs no process is in ``test_cli.py``.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
DECODERS = Path(__file__).with_name("decoders_for_tests.py")
LIMIT = 100  # seconds: a hang is a failure, whatever else the machine is doing


def environment(**more: str) -> dict[str, str]:
    """Ours, without what the pytest that runs this test has put into it."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    return {**mine, "PYTHONPATH": str(ROOT), **more}


def start(folder: Path, *arguments: str, **more: str) -> subprocess.Popen[str]:
    """``python -m cachecheck`` in ``folder``, in a process group of its own like a shell's job."""
    return subprocess.Popen(
        [sys.executable, "-m", "cachecheck", *arguments],
        cwd=folder,
        env=environment(**more),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(process: subprocess.Popen[str], typed: str = "") -> tuple[int, str, str]:
    """Exit code, output and errors; the whole group is ended if it hangs."""
    try:
        out, err = process.communicate(typed, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        pytest.fail(f"still running after {LIMIT} seconds")
    return process.returncode, out, err


def test_help_is_quick_and_imports_nothing_heavy(tmp_path: Path) -> None:
    asks = (
        "import sys, cachecheck.cli\n"
        "try: cachecheck.cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'hypothesis', 'torch', 'pytest', 'rich', 'matplotlib'}\n"
        "print('heavy:', sorted(heavy & set(sys.modules)))\n"
    )
    asked = subprocess.run(
        [sys.executable, "-c", asks],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert asked.stdout.endswith("heavy: []\n")
    assert "exit codes: 0 holds, 1 violated, 2 could not run, 3 inconclusive" in asked.stdout
    times = []
    for _ in range(5):
        began = time.perf_counter()
        code, out, _ = finish(start(tmp_path, "--help"))
        times.append(time.perf_counter() - began)
        assert (code, out.startswith("usage: cachecheck")) == (0, True)
    assert min(times) < 0.3


def test_a_users_folder_and_environment_disturb_nothing_and_stay_clean(tmp_path: Path) -> None:
    shutil.copy(DECODERS, tmp_path / "mine.py")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    (tmp_path / "conftest.py").write_text("raise RuntimeError('the conftest of the user')\n")
    (tmp_path / "test_mine.py").write_text("def test_mine(): assert False\n")
    before = {path.name for path in tmp_path.iterdir()}
    process = start(
        tmp_path,
        *("fuzz", "mine.py:Sums", "--examples", "5", "--json", "out.json"),
        PYTHONWARNINGS="error",
        PYTEST_ADDOPTS="-k nothing",
        PYTEST_PLUGINS="no_such_plugin",
    )
    code, out, err = finish(process)
    assert (code, err) == (0, "")
    assert "8 of 8 laws hold" in out
    after = {path.name for path in tmp_path.iterdir()}
    assert after - before - {"__pycache__"} == {"out.json"}
    assert len(json.loads((tmp_path / "out.json").read_text())["verdicts"]) == 17


def test_the_debugger_opens_where_a_law_fails_and_q_leaves_the_report(tmp_path: Path) -> None:
    process = start(
        tmp_path,
        *("fuzz", "tests.decoders_for_tests:RaisesOnThird", "--examples", "10"),
        *("--law", "schedule", "--pdb"),
    )
    code, out, err = finish(process, "up\np len(tokens)\nq\n")
    assert (code, err) == (2, "")
    assert "decoders_for_tests.py" in out.split("entering PDB")[1].split("(Pdb)")[0]
    assert 'raise RuntimeError("out of memory at 3 tokens")' in out
    assert "ERROR  schedule   tests.decoders_for_tests:RaisesOnThird   seed " in out


def test_a_decoder_that_kills_its_worker_is_an_error_and_the_other_law_is_reported(
    tmp_path: Path,
) -> None:
    process = start(
        tmp_path,
        *("fuzz", "tests.decoders_for_tests:Exits", "--examples", "20", "-n", "2"),
        *("--law", "prefix", "--law", "schedule", "--json", "out.json"),
    )
    code, out, err = finish(process)
    assert (code, err) == (2, "")
    assert "ERROR  schedule   the process that ran this law ended without a verdict" in out
    verdicts = json.loads((tmp_path / "out.json").read_text())["verdicts"]
    assert [(one["law"], one["verdict"]) for one in verdicts] == [
        ("prefix", "HOLDS"),
        ("schedule", "ERROR"),
    ]
    assert verdicts[0]["examples"] == 20


@pytest.mark.parametrize(
    ("deed", "said"),
    [
        ("sys.stdout.close()", "pytest itself failed (ValueError: I/O operation on closed file)"),
        ("raise BaseException('odd')", "ERROR  schedule   the decoder raised BaseException: odd"),
        (r"raise ValueError('bad \ud800 text')", r"raised ValueError: bad \ud800 text (mine.py:6)"),
    ],
)
def test_a_decoder_that_misbehaves_is_an_error_without_a_traceback(
    tmp_path: Path, deed: str, said: str
) -> None:
    (tmp_path / "mine.py").write_text(
        "import sys\nfrom tests.decoders_for_tests import *\nclass Mine(Sums):\n"
        f"    def extend(self, tokens, cache):\n        if len(tokens) == 2:\n            {deed}\n"
        "        return super().extend(tokens, cache)\n"
    )
    options = ("--law", "schedule", "--law", "prefix", "--examples", "20")
    code, out, err = finish(start(tmp_path, "fuzz", "mine.py:Mine", *options))
    assert (code, err) == (2, "")
    assert said in out
    assert "Traceback" not in out


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_ctrl_c_ends_a_run_with_what_is_known(tmp_path: Path, workers: tuple[str, ...]) -> None:
    process = start(
        tmp_path,
        *("fuzz", "tests.decoders_for_tests:Marks", "--examples", "1000000", *workers),
        *("--law", "causality", "--law", "prefix", "--json", "out.json"),
    )
    deadline = time.monotonic() + LIMIT
    while not (tmp_path / "at-work").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)  # so that the count of cases, noted every 0.1 s, is there
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it as well
    code, out, err = finish(process)
    assert (code, err) == (130, "")
    assert "interrupted: 0 of 2 laws were done\n  causality: none of " in out
    assert "Traceback" not in out
    assert json.loads((tmp_path / "out.json").read_text())["verdicts"] == []
    assert {path.name for path in tmp_path.iterdir()} == {"at-work", "out.json"}
