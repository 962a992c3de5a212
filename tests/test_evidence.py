"""The committed evidence passes its audit, and the pages about it are made from it."""

from __future__ import annotations

import json
import re
import statistics
from pathlib import Path
from typing import Any

import pytest

from benchmarks import kill_rows
from benchmarks.controls import CONTROLS
from benchmarks.controls.results import read_results, totals
from benchmarks.pages.__main__ import PAGES
from benchmarks.pages.measured import share, tables
from cachecheck.experiment import audit
from cachecheck.faults import FAULTS
from cachecheck.laws import LAWS
from cachecheck.reference import WRONG_MASKS
from cachecheck.reference.caches import CACHES
from cachecheck.replay import Replayed, replay

ROOT = Path(__file__).parent.parent
EVIDENCE = ROOT / "evidence"
SHARE = re.compile(r"([\d,]+) of (?:the )?(?:other )?([\d,]+)[^()|.;]{0,40}\(([\d.]+)%\)")
"""``107 of 132 (81%)``: a count, of how many, and a percentage that must be theirs."""


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


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_made_from_the_measured_files(path: str) -> None:
    page = (ROOT / path).read_text(encoding="utf-8")
    assert PAGES[path]() == page, "run python -m benchmarks.pages"


def test_the_index_is_short_and_leads_to_every_measured_file() -> None:
    text = (EVIDENCE / "README.md").read_text(encoding="utf-8")
    assert len(text.encode()) < 16_000
    measured_files = {path.name for path in EVIDENCE.iterdir()} - {"README.md", "regressions"}
    linked = set(re.findall(r"\]\(([\w.-]+)[)/]", text))
    assert measured_files <= linked


def test_links_to_a_section_lead_to_a_heading() -> None:
    text = (EVIDENCE / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(\.\./([^)#]+)#([^)]+)\)", text)
    assert len(links) >= 5
    for path, anchor in links:
        assert anchor in anchors((ROOT / path).read_text(encoding="utf-8")), f"{path}#{anchor}"


def anchors(page: str) -> set[str]:
    """The names of the headings of a page in links."""
    headings = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_pages_of_the_documentation_link_nothing_outside_their_folder() -> None:
    for path, page in PAGES.items():
        if path.startswith("docs/"):
            links = re.findall(r"\]\(([^)]+)\)", page())
            assert [link for link in links if not link.startswith("https://github.com/")] == []


def wrong_shares(text: str) -> list[str]:
    """Every count with a percentage that is not the share of the counts beside it."""
    found = []
    for match in SHARE.finditer(text):
        count, of = (int(number.replace(",", "")) for number in match.groups()[:2])
        digits = len(match[3].partition(".")[2])
        if f"{100 * count / of:.{digits}f}" != match[3]:
            found.append(match[0])
    return found


def test_a_percentage_behind_a_count_is_the_share_that_it_counts() -> None:
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in ("README.md", *PAGES)}
    assert sum(len(SHARE.findall(text)) for text in texts.values()) >= 3
    for path, text in texts.items():
        assert wrong_shares(text) == [], path


def test_a_percentage_of_something_else_would_be_noticed() -> None:
    assert wrong_shares("| 107 of 132 (89%) | 64 of 67 (97%) |") == [
        "107 of 132 (89%)",
        "64 of 67 (97%)",
    ]
    assert wrong_shares("caught 207 of the other 218 (94%), and 1 of 3 (33.3%)") == [
        "207 of the other 218 (94%)"
    ]
    assert wrong_shares(f"{share(4444, 4462)}, {share(1, 3, 0)}") == []


def size_of_evidence(*without: str) -> int:
    """Bytes of all files but those in the folders named."""
    files = [path for path in EVIDENCE.rglob("*") if path.is_file()]
    parts = [(path.relative_to(EVIDENCE).parts[0], path.stat().st_size) for path in files]
    assert {*without} <= {part for part, _ in parts}
    return sum(size for part, size in parts if part not in without)


def test_tables_and_pages_of_the_evidence_are_small() -> None:
    assert size_of_evidence("findings", "frozen", "zoo") <= 900_000


def test_the_evidence_is_small_beside_its_findings_and_the_frozen_run() -> None:
    assert size_of_evidence("findings", "frozen") <= 1_500_000


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
    results = tables("reference_caches.json")["results"]
    assert {one["cache"] for one in results} == set(CACHES)
    assert {one["law"] for one in results} == set(LAWS)
    assert {one["verdict"] for one in results} == {"HOLDS", "UNSUPPORTED"}
    assert {one["examples"] for one in results if one["law"] == "programs"} == {10_000}


def test_every_fault_was_caught_on_every_seed_within_the_default_budget() -> None:
    rows = kill_rows.read()
    precisions = ("float64", "float32")
    expected = {(name, precision) for name in FAULTS for precision in precisions}
    assert {(row.fault, row.precision) for row in rows} == expected, (
        "run python -m benchmarks.kill_matrix"
    )
    assert len(rows) == len(expected)
    assert [row for row in rows if row.caught < row.seeds or row.seeds < 20] == []
    cases = [count for row in rows for count in row.cases]
    assert len(cases) == sum(row.caught for row in rows)
    assert statistics.median(cases) <= 15
    assert max(cases) <= 200
    assert sum(row.equal for row in rows) / sum(row.certified for row in rows) >= 0.98


def test_every_shrunk_schedule_that_is_not_the_certified_one_is_listed() -> None:
    listed = [(one.fault, one.precision) for one in kill_rows.read_unequal()]
    for row in kill_rows.read():
        apart = row.certified - row.equal
        assert row.smaller + row.larger == apart == listed.count((row.fault, row.precision))
    assert all(one.shrunk != one.certified for one in kill_rows.read_unequal())


def test_the_matrix_agrees_with_the_catalogue() -> None:
    for row in kill_rows.read():
        assert (row.law, row.host) == (FAULTS[row.fault].law, FAULTS[row.fault].host)


def test_every_law_kills_a_fault_every_fault_changes_something_and_the_canary_sings() -> None:
    for precision in ("float64", "float32"):
        rows = [row for row in kill_rows.read() if row.precision == precision]
        killers = {
            law for row in rows for law, verdict in row.verdicts.items() if verdict == "VIOLATED"
        }
        assert killers | {row.law for row in rows} == set(LAWS)
        assert [row.fault for row in rows if not row.hit] == []
        assert {row.canary for row in rows} == {"VIOLATED"}


def test_no_control_was_accused() -> None:
    results = read_results(EVIDENCE / "controls.json")
    assert {one.control for one in results} == set(CONTROLS)
    assert [one.accusations for one in results if one.accusations] == []
    assert tables("controls.json")["totals"] == totals(results)
    for dtype in ("float64", "float32"):
        many = [one for one in results if one.dtype == dtype and one.examples >= 5000 * 0.95]
        assert len(many) >= 20


def test_no_mild_mistake_was_passed_over() -> None:
    found = tables("faint.json")
    forms = {"always", "history of 1,000", "history of 1,000, as_float64"}
    faults = {row["fault"] for row in found["margins"]}
    tried = [(row["fault"], row["form"]) for row in found["searches"]]
    assert len(tried) == len(set(tried))
    assert set(tried) == {(fault, form) for fault in faults for form in forms}
    verdicts = {row["verdict"] for row in found["searches"]}
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
