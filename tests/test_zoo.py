"""The matrix of a zoo as data and as text; no library is needed.

Run alone: python -m pytest tests/test_zoo.py
"""

from __future__ import annotations

import importlib.util
import io
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from cachecheck.cli import main
from cachecheck.commands.zoo import Request, run
from cachecheck.engines.known_failures import Entry, Ledger
from cachecheck.errors import InputError
from cachecheck.report.zoo import markdown, print_matrix
from cachecheck.verdict import Answer, Margin
from cachecheck.zoo.cells import ANSWERS, NOT_BUILT, Cell, worst
from cachecheck.zoo.matrix import Matrix, read_matrix

LAWS = ("schedule", "crop")
HOLDS = Cell("llama", "dynamic", "schedule", "HOLDS", examples=4, difference=1e-6, tolerance=5e-5)
BROKEN = Cell(
    "mamba",
    "static",
    "schedule",
    "VIOLATED",
    "rows differ",
    kind="rows",
    schedule="1+2",
    tokens=(0, 1, 2),
    decoder_seed=0,
    difference=0.5,
    tolerance=5e-5,
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
    settings="seed 0, 4 cases for each law and variant",
    wanted=3,
)
LEDGER = Ledger(
    (
        Entry(
            id="drops-state",
            kind="tolerated",
            architectures=("mamba",),
            variants=("*",),
            laws=("schedule",),
            answers=("VIOLATED",),
            symptom="a chunk starts from zeros",
            versions=("5.24.0",),
            finding="mamba-chunk-drops-state",
            judgement="bug",
        ),
    )
)

three_digits = st.none() | st.floats(0, 1e6).map(lambda value: float(f"{value:.3g}"))
names = st.sampled_from(["llama", "qwen3_5-moe", "x/y", "é"])
margins = st.builds(
    Margin,
    noise=st.floats(0, 1),
    tolerance=st.floats(0, 1),
    signal=st.none() | st.floats(0, 1),
    probe=st.sampled_from(["order", "influence"]),
    length=st.integers(1, 64),
)


@st.composite
def cells(draw: st.DrawFn) -> Cell:
    """Any cell; margins where the file keeps them."""
    answer = draw(st.sampled_from(ANSWERS))
    return Cell(
        draw(names),
        draw(st.sampled_from(["", "dynamic", "static"])),
        draw(st.sampled_from(LAWS)),
        answer,
        reason=draw(st.text()),
        kind=draw(st.sampled_from(["", "rows"])),
        follows_from=draw(st.sampled_from(["", "schedule"])),
        schedule=draw(st.none() | st.sampled_from(["1+2", "2 crop1 1"])),
        tokens=draw(st.none() | st.tuples(st.integers(0, 2**31), st.integers(0, 9))),
        decoder_seed=draw(st.none() | st.integers(0, 2**31)),
        difference=draw(three_digits),
        tolerance=draw(three_digits),
        margin=draw(st.none() | margins) if answer == "INCONCLUSIVE" else None,
        examples=draw(st.integers(0, 200)),
    )


def printed(matrix: Matrix) -> str:
    """The text on the terminal."""
    console = Console(file=io.StringIO(), width=200)
    print_matrix(console, matrix, matrix.stale(LEDGER), LEDGER.entries)
    text = console.file
    assert isinstance(text, io.StringIO)
    return text.getvalue()


def test_a_cell_over_several_variants_shows_the_gravest_and_the_unknown_first() -> None:
    assert worst([HOLDS, DOUBT, BROKEN, REFUSED]) is BROKEN
    assert worst([REFUSED, HOLDS]) is HOLDS
    known = BROKEN.marked("drops-state")
    assert worst([known, BROKEN]) is BROKEN


def test_a_cell_has_an_answer_for_every_answer_of_a_law() -> None:
    assert set(ANSWERS) == {*Answer, "NOT BUILT"}


@given(st.lists(cells()), st.booleans())
def test_a_matrix_survives_as_a_file(found: list[Cell], whole: bool) -> None:
    matrix = replace(MATRIX, cells=found, whole=whole)
    with tempfile.TemporaryDirectory() as folder:
        assert read_matrix(matrix.write(Path(folder))) == matrix


def test_a_file_keeps_three_digits_and_margins_of_inconclusive_cells_alone(tmp_path: Path) -> None:
    long = replace(HOLDS, difference=1.23456e-7, margin=DOUBT.margin)
    (kept,) = read_matrix(replace(MATRIX, cells=[long]).write(tmp_path)).cells
    assert (kept.difference, kept.margin) == (1.23e-7, None)


def test_a_file_has_a_line_for_each_variant_and_each_reason_once(tmp_path: Path) -> None:
    other = replace(REFUSED, law="schedule")
    text = replace(MATRIX, cells=[REFUSED, other, HOLDS]).write(tmp_path).read_text()
    assert text.count("is_croppable is False") == 1
    assert '["mamba","dynamic",[[1,"UNSUPPORTED",null,null,0,1],[0,"UNSUPPORTED"' in text
    assert len([line for line in text.splitlines() if '"dynamic"' in line]) == 2


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{", "", "is not a stored zoo"),
        ('"zoo"', '"failure"', "is a stored failure; expected a zoo"),
        ('"version": 1', '"version": 9', "version 9; this release reads version 1"),
        ('"difference",', "", "the columns should be law, answer, difference, tolerance"),
        ('[0,"HOLDS"', '[7,"HOLDS"', "a cell of llama has an index that leads nowhere"),
        ('[0,"HOLDS"', '[-1,"HOLDS"', ">= 0"),
        ('"HOLDS"', '"HELD"', "Invalid enum value 'HELD'"),
        ('"schedule":"1+2"', '"schedul":"1+2"', "unknown field `schedul`"),
    ],
)
def test_what_is_no_matrix_is_refused_in_one_line(
    old: str, new: str, said: str, tmp_path: Path
) -> None:
    file = MATRIX.write(tmp_path)
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        read_matrix(file)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


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
