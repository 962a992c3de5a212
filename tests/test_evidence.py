"""The committed evidence passes its audit, and the page that sums it up is made from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

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


def test_every_broken_cache_was_caught_and_shrunk_to_the_certified_minimum() -> None:
    results = measured("broken_caches.json")
    assert {one["id"] for one in results} == set(FAULTS)
    for one in results:
        assert one["caught"] == one["seeds"] >= 20
        assert one["equal"] == one["certified"]
        assert one["certified"] > 0 or one["law"] == "overflow"


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
