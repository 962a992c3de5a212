"""The committed evidence passes its audit, and the page that sums it up is made from it."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import pytest

from benchmarks.controls import CONTROLS
from cachecheck.experiment import audit
from cachecheck.faults import FAULTS
from cachecheck.laws import LAWS
from cachecheck.reference import WRONG_MASKS
from cachecheck.reference.caches import CACHES
from cachecheck.replay import Replayed, replay
from tests.test_readme import load

EVIDENCE = Path(__file__).parent.parent / "evidence"


def measured(name: str) -> Any:
    return json.loads((EVIDENCE / name).read_text(encoding="utf-8"))


def kills() -> dict[str, Any]:
    paths = (EVIDENCE / "kill-matrix").glob("*.json")
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths}


def test_the_committed_run_passes_its_audit_with_its_pictures() -> None:
    assert audit(EVIDENCE / "frozen") == []
    assert len(list((EVIDENCE / "frozen" / "figures").glob("*.png"))) == 5


def test_the_committed_run_came_from_a_clean_commit() -> None:
    manifest = measured("frozen/manifest.json")
    assert len(manifest["commit"]) == 40
    assert manifest["dirty"] is False


def test_the_published_figures_are_in_the_committed_run() -> None:
    by_seed = {result["seed"]: result for result in measured("frozen/results.json")}
    wrong = {seed: round(result["wrong_chunk_mask_error"], 6) for seed, result in by_seed.items()}
    assert wrong == {7: 0.589838, 19: 0.739833, 41: 0.648703}


def test_the_page_is_made_from_the_measured_files() -> None:
    page = (EVIDENCE / "README.md").read_text(encoding="utf-8")
    assert load("docs/evidence.py").page() == page, "run python docs/evidence.py"


def test_a_hundred_thousand_examples_gave_no_alarm() -> None:
    alarms = measured("false_alarms.json")
    assert (alarms["failing"], alarms["exit_code"]) == (0, 0)
    assert alarms["passing"] >= 100_000


def test_rows_numbered_from_0_shrank_to_1_plus_1_on_every_seed() -> None:
    shrunk = [one for one in measured("shrinking.json") if one["mask"] == "query-restart"]
    assert [one["verdicts"] for one in shrunk] == [{"VIOLATED 1+1": one["seeds"]} for one in shrunk]
    assert all(one["seeds"] >= 20 for one in shrunk)


def test_hugging_face_holds_as_it_is_and_is_violated_when_patched() -> None:
    codes = {run["target"]: run["exit_code"] for run in measured("hugging_face.json")["runs"]}
    assert codes == {
        "hf:llama": 0,
        "hf:gpt2": 0,
        "examples/hf_wrong_mask.py:llama": 1,
        "examples/hf_wrong_mask.py:gpt2": 1,
    }


def test_no_reference_cache_was_accused() -> None:
    results = measured("reference_caches.json")["results"]
    assert {one["cache"] for one in results} == set(CACHES)
    assert {one["law"] for one in results} == set(LAWS)
    assert {one["verdict"] for one in results} == {"HOLDS", "UNSUPPORTED"}
    assert {one["examples"] for one in results if one["law"] == "programs"} == {10_000}


def test_every_fault_was_caught_on_every_seed_within_the_default_budget() -> None:
    found = kills()
    assert set(found) == set(FAULTS), "run python -m benchmarks.kill_matrix"
    runs = [
        run for one in found.values() for cell in one["dtypes"].values() for run in cell["runs"]
    ]
    assert all(run["verdict"] == "VIOLATED" for run in runs)
    assert all(cell["seeds"] >= 20 for one in found.values() for cell in one["dtypes"].values())
    examples = [run["examples"] for run in runs]
    assert statistics.median(examples) <= 15
    assert max(examples) <= 200
    compared = [run["agrees"] for run in runs if run.get("agrees")]
    assert compared.count("equal") / len(compared) >= 0.98


def test_every_law_kills_a_fault_every_fault_changes_something_and_the_canary_sings() -> None:
    found = kills()
    for dtype in ("float64", "float32"):
        cells = {name: one["dtypes"][dtype] for name, one in found.items()}
        killers = {
            law
            for cell in cells.values()
            for law, one in cell["laws"].items()
            if one["verdict"] == "VIOLATED"
        }
        named = {one["law"] for one in found.values()}
        assert killers | named == set(LAWS)
        assert [name for name, cell in cells.items() if not cell["hit"]] == []
        assert {cell["canary"] for cell in cells.values()} == {"VIOLATED"}


def test_no_control_was_accused() -> None:
    found = measured("controls.json")
    assert {one["control"] for one in found["results"]} == set(CONTROLS)
    assert found["totals"]["accusations"] == 0
    for dtype in ("float64", "float32"):
        many = [
            one
            for one in found["results"]
            if one["dtype"] == dtype and one["examples"] >= 5000 * 0.95
        ]
        assert len(many) >= 20


def test_no_mild_mistake_was_passed_over() -> None:
    forms = ("always", "history of 1,000", "history of 1,000, as_float64")
    verdicts = {one[form]["verdict"] for one in measured("faint.json") for form in forms}
    assert verdicts <= {"VIOLATED", "ERROR", "INCONCLUSIVE"}  # ERROR: a row that sees no key


def test_both_methods_of_certification_agreed_and_long_schedules_became_small() -> None:
    found = measured("certifying.json")
    assert (found["full_length"]["answer"], found["full_length"]["partitions"]) == ("HOLDS", 2**23)
    assert found["full_length"]["seconds_best"] < 1
    assert {one["mask"] for one in found["both_methods"]} == {"right", *WRONG_MASKS}
    assert all(one["agree"] == one["lengths"] == 12 for one in found["both_methods"])
    for one in found["shrunk"]:
        assert (one["tokens"], one["to"]) == (4096, "1+1")
        assert one["calls"] < 200


@pytest.mark.parametrize("path", sorted((EVIDENCE / "regressions").glob("*.json")), ids=str)
def test_stored_failures_stay_fixed(path: Path) -> None:
    answer, line = replay(path)
    assert answer is Replayed.FIXED, line
