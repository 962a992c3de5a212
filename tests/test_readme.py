"""The README is true and short: its size, listings, outputs, commands and links."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks.pages import readme
from benchmarks.pages.outputs import output_of

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")

BYTES = 14 * 1024
"""What a reader with ten minutes gets through."""


def load(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shown_outputs(text: str) -> dict[str, str]:
    """Every command whose output a page shows, and that output."""
    return {match[2]: match[0].split("```text\n")[1][:-3] for match in readme.OUTPUT.finditer(text)}


def settled(output: str) -> str:
    """An output without what changes from run to run and from machine to machine."""
    output = re.sub(r"\d+\.\d+(e[+-]\d+)?", "#", output)  # seconds, differences, versions
    output = re.sub(r"(HOLDS|VIOLATED) +\d+ +(#|0) +(#|0) +#", r"\1", output)
    output = re.sub(r"\d+ (examples|cases)", r"# \1", output)
    output = re.sub(r"-[0-9a-f]{8}\.json", ".json", re.sub(r"(#\.?)+", " ", output))
    return " ".join(output.split())


def test_the_readme_is_at_most_14_kilobytes() -> None:
    assert len(TEXT.encode("utf-8")) <= BYTES


def test_it_goes_from_what_it_is_to_where_to_go_next() -> None:
    assert re.findall(r"^## (.*)$", TEXT, re.MULTILINE) == [
        "Two commands",
        "Your own decoder",
        "How to read a failure",
        "Your own test suite",
        "The strategies in another attention test",
        "My verdict is X: what now",
        "Where to go next",
    ]
    assert TEXT.index("](docs/images/failure.svg)") < TEXT.index("## Two commands")


def test_the_first_output_is_the_end_of_what_the_page_of_commands_shows() -> None:
    """Whole and run again there, by tests/test_docs.py."""
    whole = shown_outputs((ROOT / "docs" / "commands.md").read_text(encoding="utf-8"))
    lines = whole["cachecheck fuzz reference"].splitlines(keepends=True)
    assert shown_outputs(TEXT)["cachecheck fuzz reference | tail -n 5"] == "".join(lines[-5:])


@pytest.mark.extras
def test_the_torch_example_fails_as_the_readme_shows() -> None:
    pytest.importorskip("torch", reason="needs the extra: torch")
    command = "pytest examples/test_sdpa.py"
    shown = shown_outputs(TEXT)[command]
    assert "problem=AttentionProblem(past=1, chunk=1" in shown
    assert "1 failed, 1 passed" in shown
    assert settled(output_of(command)) == settled(shown)


def test_a_wrong_output_would_be_noticed() -> None:
    for command, output in shown_outputs(TEXT).items():
        wrong = {"hold": "are violated", "failed": "passed"}[re.findall("hold|failed", output)[0]]
        said = re.sub("hold|failed", wrong, output, count=1)
        assert settled(said) != settled(output), command
    row = "crop   VIOLATED   1   2.0e-01   1.8e-12   0.1"
    assert settled(row.replace("VIOLATED", "HOLDS")) != settled(row)
    assert settled("12.5 s  1.1e-3\n") == settled("3.4 s  9.9e-12")


def test_the_wrong_example_differs_from_the_right_one_in_the_one_line_it_says() -> None:
    right = (ROOT / "examples/my_decoder.py").read_text().splitlines()
    wrong = (ROOT / "examples/forgotten_offset.py").read_text().splitlines()
    pairs = [(a, b) for a, b in zip(right, wrong, strict=True) if a != b][1:]  # docstrings aside
    assert pairs == [
        (
            "        mask = np.tri(len(x), len(keys), len(keys) - len(x), dtype=bool)",
            "        mask = np.tri(len(x), len(keys), dtype=bool)",
        )
    ]


def test_ci_runs_the_commands_of_the_readme() -> None:
    ci = (ROOT / ".ci/run").read_text()
    for name in (".venv", ".venv-tests"):
        assert len(re.findall(rf"^python3 -m venv {re.escape(name)} .*$", TEXT, re.MULTILINE)) == 1
        assert f"readme_command {name})" in ci


def test_links_of_the_evidence_and_the_architecture_lead_somewhere() -> None:
    for name in ("ARCHITECTURE.md", "evidence/README.md"):  # tests/test_docs.py has the others
        page = ROOT / name
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_every_verdict_has_its_line() -> None:
    section = TEXT.split("## My verdict is X")[1]
    for verdict in ("HOLDS", "VIOLATED", "INCONCLUSIVE", "UNSUPPORTED", "ERROR"):
        assert re.search(rf"^\| {verdict} \| .+ \| .+ \|$", section, re.MULTILINE), verdict


def test_no_page_names_a_path_of_one_machine() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "*.md", "*.json", "*.py", "*.toml", "*.yml", "*.svg", ".ci/run"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if tracked.returncode != 0:
        pytest.skip("not a git checkout")
    machine = re.compile(r"(^|[^A-Za-z0-9_.])/(home|root|work|tmp)/[A-Za-z]")
    for name in tracked.stdout.split():
        path = ROOT / name
        if path.exists():
            assert not machine.search(path.read_text(encoding="utf-8")), name


def test_the_module_runs_like_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cachecheck", "--version"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("cachecheck ")
