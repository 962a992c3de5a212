"""Tables of measurements: what is written is read again, and nothing changes without a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import kill_matrix, kill_rows
from benchmarks.controls import CONTROLS
from benchmarks.controls.results import Result, read_results, write_results
from benchmarks.kill_rows import KILLED, KillRow, Unequal, rows_of, unequal_of
from benchmarks.tables import read_csv, read_report, rounded, write_csv, write_report
from cachecheck.errors import InputError
from cachecheck.faults import FAULTS
from cachecheck.laws import LAWS

SCHEDULES = ("1+1", "2", "1 b=a 1+1", "b=new*1 b:1 c=b[0,0] c:1/1", "b=new*2 b:1/2 c=b[0] c:1")
VERDICTS = ("HOLDS", "VIOLATED", "UNSUPPORTED", "ERROR", "INCONCLUSIVE")

few = settings(max_examples=20)  # each writes files
lines = st.text(st.characters(exclude_characters="\r\0", exclude_categories=["Cs"]))
values = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
cells = values | st.lists(values, max_size=2) | st.dictionaries(st.text(), values, max_size=2)


@st.composite
def reports(draw: st.DrawFn) -> dict[str, Any]:
    """Reports of plain values and of tables, each table with columns of its own."""
    report: dict[str, Any] = draw(st.dictionaries(st.text(), values, max_size=3))
    for name in draw(st.lists(st.sampled_from("abc"), unique=True)):
        columns = draw(st.lists(st.text(), min_size=1, max_size=4, unique=True))
        rows = st.fixed_dictionaries(dict.fromkeys(columns, cells))
        report[name] = draw(st.lists(rows, max_size=4))
    return report


@few
@given(report=reports())
def test_a_report_is_read_as_it_was_written(
    report: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("report") / "report.json"
    write_report(path, report)
    assert read_report(path) == report
    again = path.with_name("again.json")
    write_report(again, read_report(path))
    assert again.read_bytes() == path.read_bytes()


def test_another_row_changes_no_line_but_its_own(tmp_path: Path) -> None:
    path, rows = tmp_path / "report.json", [{"id": name, "count": 1} for name in "abc"]
    write_report(path, {"seed": 0, "rows": rows})
    before = path.read_text().splitlines()
    write_report(path, {"seed": 0, "rows": [rows[0], {**rows[1], "count": 2}, rows[2]]})
    after = path.read_text().splitlines()
    assert [(a, b) for a, b in zip(before, after, strict=True) if a != b] == [
        ('["b",1],', '["b",2],')
    ]


@pytest.mark.parametrize("other", [{"id": "b"}, {"id": "b", "count": 1, "more": 2}])
def test_a_row_with_other_columns_is_refused_and_the_file_stays(
    tmp_path: Path, other: dict[str, Any]
) -> None:
    rows = [{"id": "a", "count": 1}, other]
    path = tmp_path / "rows"
    path.write_text("as it was")
    with pytest.raises(ValueError, match="expected the columns id, count"):
        write_report(path, {"rows": rows})
    with pytest.raises(ValueError, match="expected the columns id, count"):
        write_csv(path, ("id", "count"), rows)
    assert path.read_text() == "as it was"


@few
@given(rows=st.lists(st.fixed_dictionaries({"a": lines, "b": lines})))
def test_a_csv_is_read_as_it_was_written(
    rows: list[dict[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("csv") / "rows.csv"
    write_csv(path, ("a", "b"), rows)
    assert read_csv(path) == rows


@given(value=st.floats(-1e300, 1e300))
def test_rounding_twice_is_rounding_once(value: float) -> None:
    once = rounded(value)
    assert once is not None
    assert rounded(once) == once
    assert abs(once - value) <= abs(value) * 1e-3 or abs(value) < 1e-300


runs = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 9),
        "verdict": st.sampled_from((KILLED, "HOLDS")),
        "examples": st.integers(1, 200),
        "schedule": st.sampled_from(SCHEDULES),
        "decoder_seed": st.integers(0, 9),
        "certified": st.sampled_from(SCHEDULES),
        "agrees": st.sampled_from((None, "equal", "smaller", "larger")),
    }
)
verdicts = st.fixed_dictionaries({"verdict": st.sampled_from(VERDICTS)})
precisions = st.fixed_dictionaries(
    {
        "hit": st.integers(0, 20),
        "of": st.just(20),
        "canary": st.sampled_from(VERDICTS),
        "laws": st.fixed_dictionaries(dict.fromkeys(LAWS, verdicts)),
        "runs": st.lists(runs, min_size=1, max_size=4),
    }
)


@st.composite
def results(draw: st.DrawFn) -> dict[str, Any]:
    """The result of `benchmarks.kills.measure` for a fault, as far as the tables use it."""
    fault = FAULTS[draw(st.sampled_from(sorted(FAULTS)))]
    cells = {name: draw(precisions) for name in ("float64", "float32")}
    return {"id": fault.id, "law": fault.law, "host": fault.host, "dtypes": cells}


several = st.lists(results(), max_size=3, unique_by=lambda result: str(result["id"]))


def written(folder: Path, found: list[dict[str, Any]]) -> tuple[bytes, bytes]:
    """Both tables of some results."""
    kill_matrix.write(found, folder)
    names = (kill_rows.MATRIX, kill_rows.UNEQUAL)
    first, second = ((folder / name).read_bytes() for name in names)
    return first, second


@few
@given(found=several)
def test_the_kill_matrix_is_read_as_it_was_written_in_any_order(
    found: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    one, other = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("other")
    assert written(one, found) == written(other, found[::-1])

    def order(row: KillRow | Unequal) -> tuple[str, str]:
        return row.fault, row.precision

    assert kill_rows.read(one) == sorted((r for f in found for r in rows_of(f)), key=order)
    unequal = [apart for result in found for apart in unequal_of(result)]
    assert sorted(map(repr, kill_rows.read_unequal(one))) == sorted(map(repr, unequal))


@given(found=results())
def test_a_row_of_the_kill_matrix_counts_its_runs(found: dict[str, Any]) -> None:
    for row in rows_of(found):
        runs = found["dtypes"][row.precision]["runs"]
        caught = [run for run in runs if run["verdict"] == KILLED]
        assert (row.seeds, row.caught, len(row.cases)) == (len(runs), len(caught), len(caught))
        assert row.certified == row.equal + row.smaller + row.larger
        assert set(row.schedules) == {run["schedule"] for run in caught}
        assert row.worst == (str(max(row.cases)) if caught else "-")


@few
@given(found=st.lists(results(), min_size=2, max_size=3, unique_by=lambda one: str(one["id"])))
def test_faults_that_are_not_measured_anew_stay_as_they_are_in_the_table(
    found: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    step_by_step, at_once = tmp_path_factory.mktemp("steps"), tmp_path_factory.mktemp("once")
    for result in found:
        kill_matrix.write([result], step_by_step)
    again = written(step_by_step, [found[0]])
    assert again == written(at_once, found)


def test_a_matrix_of_other_laws_says_what_to_run(tmp_path: Path) -> None:
    (tmp_path / kill_rows.MATRIX).write_text("fault,law\na,b\n")
    with pytest.raises(InputError, match=r"has the columns fault, law; .* without --only"):
        kill_rows.read(tmp_path)


def test_raw_results_of_other_code_or_other_options_are_measured_again(tmp_path: Path) -> None:
    asked = {"seeds": 20, "code": kill_matrix.fingerprint()}
    for name, stored in (("a", asked), ("b", {**asked, "seeds": 5}), ("c", {**asked, "code": ""})):
        (tmp_path / f"{name}.json").write_text(
            json.dumps({"asked": stored, "result": {"id": name}})
        )
    assert kill_matrix.measured(tmp_path, asked, ["a", "b", "c", "d"]) == {"a": {"id": "a"}}


@pytest.mark.slow
def test_the_kill_matrix_is_the_same_whoever_measures_what_first(tmp_path: Path) -> None:
    faults = ["copying-mask-one-far", "copying-left-behind", "ring-crop-goes-ahead"]
    for name, order, workers in (("one", faults, "1"), ("two", faults[::-1], "2")):
        options = ["--seeds", "2", "-n", workers, "--raw", str(tmp_path / f"{name}-raw")]
        command = ["--only", *order, "--out", str(tmp_path / name), *options]
        assert kill_matrix.main(command) == 0
    for table in (kill_rows.MATRIX, kill_rows.UNEQUAL):
        assert (tmp_path / "one" / table).read_bytes() == (tmp_path / "two" / table).read_bytes()
    rows = kill_rows.read(tmp_path / "one")
    assert {row.fault for row in rows} == set(faults)
    assert all(row.caught == row.seeds == 2 for row in rows)
    assert sum(row.certified for row in rows) >= 8


laws = st.dictionaries(st.sampled_from(sorted(LAWS)), st.integers(0, 500), max_size=4)
doubts = st.lists(
    st.fixed_dictionaries({"law": st.sampled_from(sorted(LAWS)), "message": st.text()}), max_size=2
)
controls = st.builds(
    Result,
    control=st.sampled_from(sorted(CONTROLS)),
    dtype=st.sampled_from(("float64", "float32")),
    asked=st.integers(1, 500),
    cases=laws,
    accusations=doubts,
    inconclusive=doubts,
)


@few
@given(found=st.lists(controls, max_size=4, unique_by=lambda one: (one.control, one.dtype)))
def test_results_of_controls_are_read_as_they_were_written(
    found: list[Result], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("controls") / "controls.json"
    write_results(path, found)

    def order(one: Result) -> tuple[str, str]:
        return one.control, one.dtype

    assert sorted(read_results(path), key=order) == sorted(found, key=order)
