"""Every accusation of the zoo was made again in plain transformers.

Run alone: python -m pytest tests/test_plainly.py
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.plainly.answers import problems, shows
from benchmarks.tables import read_report
from cachecheck.engines.known_failures import load_ledger
from cachecheck.zoo.cells import Cell
from cachecheck.zoo.matrix import read_matrix

ROOT = Path(__file__).parent.parent
ROWS = read_report(ROOT / "evidence" / "plainly.json")["rows"]
MATRIX = read_matrix(ROOT / "evidence" / "zoo" / "transformers.json").marked(
    load_ledger("transformers")
)


def test_the_evidence_has_no_answer_other_than_it_should_be() -> None:
    assert problems(ROWS) == []


def test_an_accusation_that_is_not_borne_out_is_a_problem_and_so_is_what_holds_and_differs() -> (
    None
):
    accused = {"architecture": "a", "variant": "dynamic", "check": "chunks 1 1", "tolerance": 1e-4}
    good, bad = {"difference": 0.1}, {"difference": 1e-6}
    lines = [
        problems([{**accused, "accused": who, **what}])
        for who, what in ((True, good), (False, bad), (True, bad), (False, good))
    ]
    assert [len(one) for one in lines] == [0, 0, 1, 1]
    assert problems([{**accused, "accused": True, "raised": "TypeError: no"}])
    assert problems([{**accused, "accused": False, "raised": "TypeError: no"}])


def test_every_cell_that_accuses_has_a_check_that_shows_it() -> None:
    shown = {
        (row["architecture"], row["variant"], law)
        for row in ROWS
        if row["accused"] and shows(row)
        for law in row["laws"]
    }
    accusing = {place(cell) for cell in MATRIX.cells if cell.answer == "VIOLATED" and cell.examples}
    assert accusing
    assert accusing == shown


def test_the_checks_lead_to_the_findings_that_the_ledger_names() -> None:
    known = {place(cell): cell.known for cell in MATRIX.cells}
    for row in ROWS:
        if row["accused"]:
            ids = {known[row["architecture"], row["variant"], law] for law in row["laws"]}
            assert row["finding"] in ids


@pytest.mark.parametrize("file", ["plain.py", "models.py"])
def test_plain_calls_do_not_know_cachecheck(file: str) -> None:
    tree = ast.parse((ROOT / "benchmarks" / "plainly" / file).read_text(encoding="utf-8"))
    imported = {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
        )
    }
    others = {name for name in imported if name.partition(".")[0] not in sys.stdlib_module_names}
    assert others <= {"torch", "transformers", "benchmarks.plainly.models"}
    assert "torch" in others


def place(cell: Cell) -> tuple[str, str, str]:
    return cell.architecture, cell.variant, cell.law


@pytest.mark.extras
def test_the_command_tries_accused_and_held_alike(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="plain calls need torch: the transformers extra")
    pytest.importorskip("transformers", reason="plain calls need transformers")
    out = tmp_path / "plainly.json"
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.plainly", "--only", "bamba,gpt2", "--out", str(out)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = read_report(out)["rows"]
    assert {row["architecture"] for row in found if row["accused"]} == {"bamba"}
    assert {row["architecture"] for row in found if not row["accused"]} == {"bamba", "gpt2"}
    assert all(shows(row) == row["accused"] for row in found)
