"""Old faults of released libraries: what the evidence shows, and that gaps in it are seen."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.history.__main__ import OUT
from benchmarks.history.rows import ROWS
from benchmarks.history.searching import problems
from benchmarks.history.table import table
from cachecheck.laws import LAWS

ADAPTERS = Path(__file__).parent.parent / "benchmarks" / "history" / "adapters"


@pytest.fixture
def evidence() -> Any:
    return json.loads(OUT.read_text(encoding="utf-8"))


def run_of(evidence: Any, side: str) -> dict[str, Any]:
    """The first run of that side in the first row."""
    found: dict[str, Any] = next(one for one in evidence["rows"][0]["runs"] if one["side"] == side)
    return found


def test_every_fault_is_found_again_and_every_right_release_holds(evidence: Any) -> None:
    assert problems(evidence) == []


def test_rows_are_those_of_the_data_file_in_its_order(evidence: Any) -> None:
    assert [row["id"] for row in evidence["rows"]] == list(ROWS)


def test_a_dozen_faults_at_least_eight_of_them_silent() -> None:
    silent = {row.fault for row in ROWS.values() if row.answer == "VIOLATED"}
    assert len({row.fault for row in ROWS.values()}) >= 12
    assert len(silent) >= 8


def test_releases_differ_unless_two_ways_to_use_one_are_compared() -> None:
    for row in ROWS.values():
        assert bool(set(row.wrong) & set(row.right)) == (row.right_target is not None), row.id


def test_schedules_are_small_and_have_their_tokens(evidence: Any) -> None:
    for row in evidence["rows"]:
        for run in row["runs"]:
            if run["side"] == "wrong":
                assert 1 <= len(run["tokens"]) <= 10, row["id"]


def test_laws_and_adapters_exist() -> None:
    for row in ROWS.values():
        assert row.law in LAWS
        for target in filter(None, (row.target, row.right_target)):
            module, factory = target.split(":")
            text = (ADAPTERS / f"{module}.py").read_text(encoding="utf-8")
            assert f"def {factory}(seed: int)" in text


def test_the_evidence_names_no_machine() -> None:
    text = OUT.read_text(encoding="utf-8")
    assert not re.findall(r"/(?:work|tmp|home|root|opt)/|https?://", text)


def drop_row(evidence: Any) -> None:
    del evidence["rows"][0]


def drop_runs(evidence: Any) -> None:
    evidence["rows"][0]["runs"] = []


def drop_law(evidence: Any) -> None:
    del evidence["rows"][0]["law"]


def drop_schedule(evidence: Any) -> None:
    run_of(evidence, "wrong")["schedule"] = None


def drop_seconds(evidence: Any) -> None:
    del run_of(evidence, "right")["seconds"]


def hold_the_wrong(evidence: Any) -> None:
    run_of(evidence, "wrong")["verdict"] = "HOLDS"


def doubt_the_right(evidence: Any) -> None:
    run_of(evidence, "right")["verdict"] = "INCONCLUSIVE"


def add_unknown(evidence: Any) -> None:
    evidence["rows"].append({"id": "unknown"})


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (drop_row, "not in the evidence"),
        (drop_runs, "NOT RUN; expected VIOLATED"),
        (drop_law, "law None; expected schedule"),
        (drop_schedule, "no schedule"),
        (drop_seconds, "no seconds"),
        (hold_the_wrong, "HOLDS; expected VIOLATED"),
        (doubt_the_right, "INCONCLUSIVE; expected HOLDS"),
        (add_unknown, "unknown: not in rows.toml"),
    ],
)
def test_missing_data_is_a_problem(evidence: Any, damage: Callable[[Any], None], said: str) -> None:
    damaged = copy.deepcopy(evidence)
    damage(damaged)
    assert any(said in line for line in problems(damaged))


def test_no_evidence_is_a_problem_for_every_row() -> None:
    assert len(problems({})) == len(ROWS)


def test_the_table_has_a_line_for_every_wrong_release(evidence: Any) -> None:
    lines = table(evidence).splitlines()
    assert len(lines) == 2 + sum(len(row.wrong) for row in ROWS.values())
    assert len({line.count("|") for line in lines}) == 1
