"""The README is true: its listings, tables, outputs and commands are those of the project."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from cachecheck.report.markdown import with_tables

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def load(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


readme = load("docs/readme.py")


def outputs() -> dict[str, str]:
    """Every command whose output the README shows, and that output."""
    return {match[2]: match[0].split("```text\n")[1][:-3] for match in readme.OUTPUT.finditer(TEXT)}


def settled(output: str) -> str:
    """An output without what changes from run to run and from machine to machine."""
    output = re.sub(r"\d+\.\d+(e[+-]\d+)?", "#", output)  # seconds, differences, versions
    output = re.sub(r"(HOLDS|VIOLATED) +\d+ +(#|0) +(#|0) +#", r"\1", output)
    output = re.sub(r"\d+ (examples|cases)", r"# \1", output)
    return re.sub(r"-[0-9a-f]{8}\.json", ".json", re.sub(r"(#\.?)+|[ ]+", " ", output))


def test_tables_and_listings_are_up_to_date() -> None:
    assert with_tables(TEXT) == TEXT, "run python docs/readme.py"
    assert readme.with_files(TEXT) == TEXT, "run python docs/readme.py"
    assert readme.with_measured(TEXT) == TEXT, "run python docs/readme.py"


@pytest.mark.slow
@pytest.mark.parametrize("command", [c for c in outputs() if c.startswith("cachecheck ")])
def test_outputs_are_what_the_commands_print(command: str) -> None:
    shown = settled(outputs()[command])
    assert shown.strip()
    assert settled(readme.output_of(command)) == shown


@pytest.mark.extras
def test_the_torch_example_fails_as_the_readme_shows() -> None:
    pytest.importorskip("torch", reason="needs the extra: torch")
    command = "pytest examples/test_sdpa.py"
    shown = outputs()[command]
    assert "problem=AttentionProblem(past=1, chunk=1" in shown
    assert "1 failed, 1 passed" in shown
    assert settled(readme.output_of(command)) == settled(shown)


def test_a_wrong_output_would_be_noticed() -> None:
    for command, output in outputs().items():
        if command.startswith("cachecheck "):
            wrong = {"HOLDS": "VIOLATED", "VIOLATED": "HOLDS"}[
                re.findall("HOLDS|VIOLATED", output)[0]
            ]
            said = re.sub("HOLDS|VIOLATED", wrong, output, count=1)
            assert settled(said) != settled(output)


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


def test_links_within_the_project_lead_somewhere() -> None:
    pages = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "evidence/README.md"]
    for page in pages:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_no_page_names_a_path_of_one_machine() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "*.md", "*.json", "*.py", "*.toml", ".ci/run"],
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
