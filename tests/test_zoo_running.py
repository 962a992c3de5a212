"""The zoo over real architectures: each in a process of its own that may hang, crash or be absent.

Run alone: python -m pytest -m extras tests/test_zoo_running.py
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the zoo needs torch: the transformers extra")
pytest.importorskip("transformers", reason="the zoo needs transformers")

from cachecheck.engines.hugging_face.variants import VARIANTS
from cachecheck.engines.registry import engine_named
from cachecheck.laws import LAWS
from cachecheck.zoo.cells import Cell
from cachecheck.zoo.matrix import read_matrix
from cachecheck.zoo.running import run
from cachecheck.zoo.worker import Job

pytestmark = pytest.mark.extras


def ran(jobs: list[Job], *, seconds: float = 120.0, workers: int = 2) -> dict[str, list[Cell]]:
    """The cells of each architecture."""
    found: dict[str, list[Cell]] = {}
    run(jobs, workers, seconds, found.__setitem__)
    return found


def job(name: str, *laws: str, variants: tuple[str, ...] = ("dynamic",), memory: int | None = None,
        quarantined: tuple[tuple[str, str], ...] = ()) -> Job:  # fmt: skip
    return Job(engine_named("transformers"), name, variants, laws, 4, 0, memory, quarantined)


def test_a_sound_architecture_holds_and_a_broken_one_shows_its_schedule() -> None:
    found = ran([job("llama", "schedule", "batch"), job("mamba", "schedule", "branch", "batch")])
    assert [cell.answer for cell in found["llama"]] == ["HOLDS", "HOLDS"]
    schedule, branch, batch = found["mamba"]
    assert (schedule.answer, schedule.schedule) == ("VIOLATED", "1+2")
    assert (branch.follows_from, branch.schedule, branch.examples) == ("schedule", "1+2", 0)
    assert batch.answer == "VIOLATED"


def test_what_takes_no_cache_refuses_and_what_cannot_be_built_says_why() -> None:
    found = ran([job("openai-gpt", "schedule"), job("gemma4_assistant", "schedule")])
    (refused,), (absent,) = found["openai-gpt"], found["gemma4_assistant"]
    assert refused.answer == "UNSUPPORTED"
    assert "takes no cache" in refused.reason
    assert absent.answer == "NOT BUILT"
    assert absent.reason


def test_what_cannot_be_built_is_not_built_in_any_variant() -> None:
    (cell,) = ran([job("gemma4_assistant", "schedule", variants=("static",))])["gemma4_assistant"]
    assert cell.answer == "NOT BUILT"


def test_a_variant_that_an_architecture_does_not_have_is_unsupported() -> None:
    (cell,) = ran([job("mistral", "reorder", variants=("fp8",))])["mistral"]
    assert cell.answer == "UNSUPPORTED"
    assert "full attention" in cell.reason


def test_what_is_quarantined_is_not_run() -> None:
    cells = ran([job("llama", "schedule", "batch", quarantined=(("dynamic", "batch"),))])["llama"]
    assert [cell.law for cell in cells] == ["schedule"]


def test_a_worker_that_takes_too_long_is_ended_and_the_others_go_on() -> None:
    slow = job("llama", *LAWS, variants=tuple(VARIANTS))
    (*_, last) = ran([slow], seconds=0.5)["llama"]
    assert last.answer == "ERROR"
    assert "not done after 0.5 seconds" in last.reason


def test_a_worker_that_dies_is_an_error_and_not_the_end() -> None:
    # Not even a library fits into so little address space.
    found = ran([job("llama", "schedule", memory=1 << 20), job("gpt2", "schedule")])
    assert found["gpt2"][0].answer == "HOLDS"
    assert found["llama"][-1].answer in ("ERROR", "NOT BUILT")
    assert found["llama"][-1].reason


def test_the_command_writes_the_matrix_and_exits_by_what_is_unknown(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "cachecheck", "zoo", "transformers", "--out", str(tmp_path)]
    options = ["--only", "llama,mamba", "--laws", "schedule", "--variants", "dynamic"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "KNOWN  mamba-chunk-drops-state (bug)" in done.stdout
    cells = read_matrix(tmp_path / "transformers.json").cells
    assert [cell.answer for cell in cells] == ["HOLDS", "VIOLATED"]
    wrong = subprocess.run(
        [*command, "--only", "lama"], capture_output=True, text=True, check=False
    )
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("cachecheck: unknown architecture 'lama'")


@pytest.mark.slow
def test_ctrl_c_keeps_what_was_found_and_leaves_no_process(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "cachecheck", "zoo", "transformers", "--out", str(tmp_path)]
    ours, theirs = os.openpty()  # the bar is drawn for a terminal only
    zoo = subprocess.Popen(
        [*command, "--variants", "dynamic", "-n", "1"],  # minutes of work
        stdout=subprocess.PIPE, stderr=theirs, text=True, start_new_session=True,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    )  # fmt: skip
    os.close(theirs)
    seen = ""
    while "afmoe" not in seen:  # the first by name: the bar shows the last one that is done
        seen += os.read(ours, 1 << 12).decode()
    os.kill(zoo.pid, signal.SIGINT)
    reader = threading.Thread(target=_drain, args=(ours,))  # else the zoo waits for a reader
    reader.start()
    text, _ = zoo.communicate(timeout=120)
    assert zoo.returncode == 130
    assert "interrupted:" in text
    assert "afmoe" in read_matrix(tmp_path / "transformers.json").architectures
    for _ in range(100):  # the server that forks workers notices within moments
        try:
            os.killpg(zoo.pid, 0)
        except ProcessLookupError:
            break
        time.sleep(0.1)
    else:
        pytest.fail("processes are left")
    reader.join(timeout=60)
    os.close(ours)


def _drain(terminal: int) -> None:
    with suppress(OSError):  # Linux's way to say that nobody has the other end open
        while os.read(terminal, 1 << 12):
            pass
