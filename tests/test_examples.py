"""The examples do what the README says of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cachecheck.laws import LAWS
from cachecheck.search import search
from cachecheck.search.cases import Effort
from cachecheck.target import load_target
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


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_every_example_is_named_in_the_readme_or_the_evidence(path: Path) -> None:
    pages = (EXAMPLES.parent / "README.md", EXAMPLES.parent / "evidence" / "README.md")
    assert any(path.name in page.read_text(encoding="utf-8") for page in pages)
