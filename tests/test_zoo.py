"""The matrix of a zoo as data and as text; no library is needed.

Run alone: python -m pytest tests/test_zoo.py
"""

from __future__ import annotations

import importlib.util
import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from cachecheck.cli import main
from cachecheck.commands.zoo import Request, run
from cachecheck.engines.known_failures import read_ledger
from cachecheck.errors import InputError
from cachecheck.report.zoo import markdown, print_matrix
from cachecheck.verdict import Margin
from cachecheck.zoo.cells import NOT_BUILT, Cell, worst
from cachecheck.zoo.matrix import Matrix, read_matrix

LAWS = ("schedule", "crop")
HOLDS = Cell("llama", "dynamic", "schedule", "HOLDS", examples=4, difference=1e-6, tolerance=5e-5)
BROKEN = Cell(
    "mamba", "static", "schedule", "VIOLATED", "rows differ", "1+2", (0, 1, 2), 0, 0.5, 5e-5
)
REFUSED = Cell("mamba", "dynamic", "crop", "UNSUPPORTED", "is_croppable is False")
DOUBT = Cell(
    "llama", "eager", "crop", "INCONCLUSIVE", "no room", margin=Margin(1e-6, 3e-5, 1e-5, "order", 9)
)
ABSENT = Cell("dbrx", "dynamic", "schedule", NOT_BUILT, "raised AttributeError: rope_theta")
MATRIX = Matrix(
    "transformers",
    {"transformers": "5.24.0"},
    LAWS,
    [ABSENT, HOLDS, DOUBT, BROKEN, REFUSED],
    seconds=90.0,
    asked="seed 0, 4 cases for each law and variant",
    wanted=3,
)
LEDGER = read_ledger(
    [
        {
            "id": "drops-state",
            "kind": "tolerated",
            "architectures": ["mamba"],
            "variants": ["*"],
            "laws": ["schedule"],
            "answers": ["VIOLATED"],
            "seen": "a chunk starts from zeros",
            "versions": ["5.24.0"],
            "finding": "mamba-chunk-drops-state",
            "judgement": "bug",
        }
    ],
    "test.json",
)


def printed(matrix: Matrix) -> str:
    """What the terminal shows."""
    console = Console(file=io.StringIO(), width=200)
    print_matrix(console, matrix, matrix.stale(LEDGER), LEDGER.entries)
    text = console.file
    assert isinstance(text, io.StringIO)
    return text.getvalue()


@pytest.mark.parametrize("cell", MATRIX.cells, ids=lambda cell: cell.answer)
def test_a_cell_survives_as_json(cell: Cell) -> None:
    assert Cell.from_json(cell.to_json()) == cell


def test_a_cell_over_several_variants_shows_what_says_most_and_the_unknown_first() -> None:
    assert worst([HOLDS, DOUBT, BROKEN, REFUSED]) is BROKEN
    assert worst([REFUSED, HOLDS]) is HOLDS
    known = BROKEN.marked("drops-state")
    assert worst([known, BROKEN]) is BROKEN


def test_a_matrix_survives_as_a_file_but_for_digits_and_long_refusals(tmp_path: Path) -> None:
    file = MATRIX.write(tmp_path)
    assert read_matrix(file) == MATRIX
    long = replace(MATRIX, cells=[replace(REFUSED, reason="x" * 500)])
    assert len(read_matrix(long.write(tmp_path)).cells[0].reason) < 200


def test_what_is_no_matrix_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "transformers.json"
    for text in ("{}", "nothing", '{"format": 99}'):
        file.write_text(text)
        with pytest.raises(InputError):
            read_matrix(file)


def test_the_printed_matrix_has_letters_reasons_and_figures() -> None:
    text = printed(MATRIX.marked(LEDGER))
    assert "llama  + ?" in text
    assert "mamba  V u" in text
    assert "dbrx   - -" in text
    assert "KNOWN  drops-state (bug): a chunk starts from zeros" in text
    assert "1 cells of mamba" in text
    assert "INCONCLUSIVE  llama: crop (eager): no room" in text
    assert "NOT BUILT  dbrx: raised AttributeError: rope_theta" in text
    assert "2 of 3 architectures built, 2 checked, in 1.5 minutes: 1 HOLDS, 1 VIOLATED" in text
    assert "Interrupted" not in text


def test_a_run_that_was_interrupted_says_so_wherever_it_is_shown(tmp_path: Path) -> None:
    cut = replace(MATRIX, wanted=8, whole=False)
    assert "Interrupted: 5 architectures were not reached" in printed(cut)
    assert "Interrupted: 5" in markdown(read_matrix(cut.write(tmp_path)), LEDGER.entries)


def test_what_the_ledger_does_not_know_is_printed_with_its_schedule() -> None:
    text = printed(MATRIX)
    assert "VIOLATED  hf:mamba/static schedule  schedule 1+2; difference 5.0e-01" in text
    assert "1 violations and errors are not" in text


def test_a_known_failure_that_passes_is_told_loudly() -> None:
    passing = replace(MATRIX, cells=[replace(BROKEN, answer="HOLDS")])
    assert "PASSES NOW  mamba: known failure drops-state no longer shows" in printed(passing)
    partial = replace(passing, whole=False)
    assert "PASSES NOW" not in printed(partial)


def test_the_page_links_each_known_failure_to_its_finding() -> None:
    page = markdown(MATRIX.marked(LEDGER), LEDGER.entries, "../findings")
    assert "| mamba | VIOLATED static `1+2` drops-state | u |" in page
    assert "../findings/mamba-chunk-drops-state/finding.md" in page
    elsewhere = markdown(MATRIX.marked(LEDGER), LEDGER.entries)
    assert "| mamba-chunk-drops-state |" in elsewhere  # no link that leads nowhere
    assert "drops-state" not in markdown(MATRIX, LEDGER.entries)  # not met
    assert "- dbrx: raised AttributeError: rope_theta" in page


def test_exit_codes_tell_the_unknown_from_the_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cachecheck.commands.zoo.load_ledger", lambda _library: LEDGER)
    request = Request("transformers", out=tmp_path, again=True)

    def code(*cells: Cell) -> int:
        replace(MATRIX, cells=list(cells)).write(tmp_path)
        return run(request, Console(file=io.StringIO()))

    assert code(HOLDS, BROKEN) == 0
    assert code(HOLDS, BROKEN, replace(BROKEN, architecture="llama")) == 1
    assert code(HOLDS, replace(BROKEN, answer="HOLDS")) == 1
    assert code(HOLDS, BROKEN, replace(HOLDS, answer="ERROR")) == 2
    assert code(ABSENT) == 2
    assert code(REFUSED) == 2  # nothing was checked
    assert (tmp_path / "transformers.md").read_text().startswith("# transformers")


def test_a_part_does_not_replace_a_whole_zoo(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="a run needs the library")
    MATRIX.write(tmp_path)
    request = Request("transformers", only=("llama",), out=tmp_path)
    with pytest.raises(InputError, match="has a whole zoo, and this is a part"):
        run(request, Console(file=io.StringIO()))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--only", ""], "--only names nothing"),
        (["--laws", ","], "--laws names nothing"),
        (["-n", "0"], "-n 0 would run nothing"),
        (["--again", "--only", "llama"], "--again shows what is there"),
        (["--again"], "cannot read"),
        (["--out", "{file}"], "is no folder"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_line(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    given = [one.format(file=file) for one in arguments]
    out = [] if "--out" in given else ["--out", str(tmp_path / "new")]
    assert main(["zoo", "transformers", *given, *out]) == 2
    error = capsys.readouterr().err
    assert error.startswith("cachecheck: ")
    assert error.count("\n") == 1
    if importlib.util.find_spec("transformers") or "needs" not in error:
        assert said in error
