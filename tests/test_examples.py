"""The examples do what the documents say of them."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cachecheck.laws import LAWS
from cachecheck.search import search
from cachecheck.search.cases import Effort
from cachecheck.target import as_target, load_target
from cachecheck.verdict import Answer
from tests.test_cli_process import environment

EXAMPLES = Path(__file__).parent.parent / "examples"
PLAIN = [law for law in LAWS.values() if not law.needs]


def answers(name: str) -> dict[str, Answer]:
    """Every law that three functions unlock, on an example."""
    target = load_target(f"{EXAMPLES}/{name}")
    return {law.id: search(law, target, Effort(examples=6))[0].answer for law in PLAIN}


def test_fifteen_lines_are_enough_for_a_decoder() -> None:
    lines = (EXAMPLES / "tiny_decoder.py").read_text(encoding="utf-8").splitlines()
    code = [line for line in lines if line.strip() and not line.startswith("import")]
    assert len(code) == 15
    assert not any("cachecheck" in line for line in code)
    assert set(answers("tiny_decoder.py:Tiny").values()) == {Answer.HOLDS}


def test_the_smallest_decoder_holds_and_its_broken_sisters_do_not() -> None:
    assert set(answers("my_decoder.py:MyDecoder").values()) == {Answer.HOLDS}
    assert answers("forgotten_offset.py:MyDecoder")["schedule"] is Answer.VIOLATED
    crop = search(LAWS["crop"], load_target(f"{EXAMPLES}/crop_one_off.py:MyDecoder"), Effort())[0]
    assert (crop.answer, crop.schedule) == (Answer.VIOLATED, "2 crop1 1")


@pytest.mark.slow
def test_the_suite_of_ones_own_passes(tmp_path: Path) -> None:
    options = ("-p", "cachecheck.pytest_plugin", "-p", "no:cacheprovider", "-c", "/dev/null")
    quick = (f"--rootdir={tmp_path}", "--cachecheck-examples=5", "--hypothesis-seed=0")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *quick, str(EXAMPLES / "test_my_decoder.py")],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    skipped = len(LAWS) - len(PLAIN)
    assert f"{len(PLAIN) + 1} passed, {skipped} skipped" in ran.stdout, ran.stdout


@pytest.mark.extras
def test_the_torch_module_keeps_every_law_that_it_unlocks() -> None:
    pytest.importorskip("torch", reason="needs the extra: torch")
    target = load_target(f"{EXAMPLES}/torch_decoder.py:make")
    found = {law.id: search(law, target, Effort(examples=20))[0].answer for law in LAWS.values()}
    expected = {law.id for law in PLAIN} | {"crop", "overflow"}
    assert {law for law, answer in found.items() if answer is Answer.HOLDS} == expected
    assert set(found.values()) == {Answer.HOLDS, Answer.UNSUPPORTED}


@pytest.mark.extras
def test_the_torch_module_must_say_that_its_cache_is_written_in_place() -> None:
    pytest.importorskip("torch", reason="needs the extra: torch")
    make = runpy.run_path(str(EXAMPLES / "torch_decoder.py"))["make"]

    def silent(seed: int) -> Any:
        decoder = make(seed)
        decoder.mutates_cache = False
        return decoder

    found = search(LAWS["frame"], as_target(silent, "silent"), Effort(examples=20))[0]
    assert found.answer is Answer.VIOLATED


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("push examples/my_decoder.py:MyDecoder", 0),
        ("push examples/forgotten_offset.py:MyDecoder", 1),
        ("push examples/nowhere.py:MyDecoder", 2),
        ("release examples/my_decoder.py:MyDecoder", 0),
        ("some-day examples/my_decoder.py:MyDecoder", 2),
    ],
)
def test_the_script_for_ci_fails_as_the_command_does(
    arguments: str, code: int, tmp_path: Path
) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    command = tmp_path / "bin" / "cachecheck"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cachecheck "$@"\n')
    command.chmod(0o755)
    ran = subprocess.run(
        ["sh", "examples/ci/check.sh", *arguments.split()],
        cwd=tmp_path,
        env=environment(PATH=f"{command.parent}:{os.environ['PATH']}"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == code, ran.stdout + ran.stderr
    for report in ("verdicts.json", "cachecheck.xml"):
        assert (tmp_path / report).exists() == arguments.startswith("push")


@pytest.mark.extras
def test_the_workflow_runs_the_script_on_a_target_that_exists() -> None:
    yaml = pytest.importorskip("yaml", reason="needs the extra: docs")
    workflow = yaml.safe_load((EXAMPLES / "ci" / "cachecheck.yml").read_text(encoding="utf-8"))
    steps = workflow["jobs"]["caches"]["steps"]
    (check,) = [step["run"] for step in steps if "check.sh" in step.get("run", "")]
    assert (EXAMPLES.parent / check.split()[0]).exists()
    assert answers(workflow["env"]["TARGET"].removeprefix("examples/"))
    kept = [step["with"]["path"] for step in steps if "artifact" in step.get("uses", "")]
    assert "evidence/regressions" in kept


SHOWN = sorted(path for path in EXAMPLES.rglob("*.*") if path.suffix != ".pyc")


@pytest.mark.parametrize("path", SHOWN, ids=lambda path: path.name)
def test_every_example_is_named_in_the_documents(path: Path) -> None:
    root = EXAMPLES.parent
    pages = [root / "README.md", root / "evidence" / "README.md", *(root / "docs").rglob("*.md")]
    assert any(path.name in page.read_text(encoding="utf-8") for page in pages)
