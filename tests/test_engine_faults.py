"""Faults in an installed library: put in and taken out whole, and the evidence about them.

Those that run the library: python -m pytest -m extras tests/test_engine_faults.py
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from benchmarks.engine_faults.catalogue import FAULTS
from benchmarks.engine_faults.fault import ARCHITECTURES, EngineFault, patched
from benchmarks.engine_faults.table import summary, table
from benchmarks.tables import read_report
from cachecheck.engines.known_failures import load_ledger
from cachecheck.faults.kinds import KINDS
from cachecheck.laws import LAWS

ROOT = Path(__file__).parent.parent
EVIDENCE, FOLDER = ROOT / "evidence", ROOT / "benchmarks" / "engine_faults"
VARIANTS = ("dynamic", "eager", "float64", "recording", "static", "fp8", "quanto")


@pytest.fixture
def evidence() -> Any:
    return read_report(EVIDENCE / "engine-faults.json")


@pytest.fixture
def library() -> None:
    pytest.importorskip("torch", reason="the library needs torch: the transformers extra")
    pytest.importorskip("transformers", reason="faults are put into transformers")


def here(fault: EngineFault, architecture: str) -> list[Any]:
    """The members at the fault's places now; None where the name is inherited or absent."""
    places = fault.holders(architecture)
    return [vars(holder).get(name) for holder, name in places]


def test_faults_are_of_known_kinds_and_say_what_is_wrong() -> None:
    assert {fault.kind for fault in FAULTS.values()} <= set(KINDS)
    assert len({fault.what for fault in FAULTS.values()}) == len(FAULTS) >= 20
    for name, fault in FAULTS.items():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
        assert fault.variants
        assert set(fault.variants) <= set(VARIANTS)
        assert set(fault.architectures) <= set(ARCHITECTURES)


def test_the_evidence_is_of_the_catalogue(evidence: Any) -> None:
    now = [
        {
            **{key: getattr(fault, key) for key in ("id", "what", "kind", "place")},
            "variants": list(fault.variants),
        }
        for fault in FAULTS.values()
    ]
    assert evidence["faults"] == now, "run python -m benchmarks.engine_faults"
    pairs = [(cell["fault"], cell["architecture"]) for cell in evidence["cells"]]
    assert pairs == [(one.id, name) for one in FAULTS.values() for name in one.architectures]
    assert evidence["versions"]["transformers"]


def test_without_a_fault_nothing_fails_but_what_the_ledger_explains(evidence: Any) -> None:
    known = {entry.id for entry in load_ledger("transformers").entries}
    assert [one["architecture"] for one in evidence["controls"]] == list(ARCHITECTURES)
    for one in evidence["controls"]:
        assert {cell["known"] for cell in one["failed"]} <= known
        assert one["answers"]["HOLDS"] >= 10
        failed = Counter(cell["answer"] for cell in one["failed"])
        assert all(one["answers"].get(name, 0) == failed[name] for name in ("VIOLATED", "ERROR"))


def test_outcomes_follow_from_what_was_measured(evidence: Any) -> None:
    failed = {
        (one["architecture"], cell["variant"], cell["law"])
        for one in evidence["controls"]
        for cell in one["failed"]
    }
    for cell in evidence["cells"]:
        share, found = cell["share"], cell["many"] or cell
        beyond = share is None or share > 1
        assert cell["cases"] > 0
        match cell["outcome"]:
            case "changes nothing":
                assert (cell["changed"], share) == (0, 0.0)
            case "within tolerance":
                assert cell["changed"] > 0
                assert not beyond
            case "missed":
                assert beyond
            case outcome:
                assert outcome == "caught"
        if found["law"]:
            assert found["law"] in LAWS
            assert found["answer"] in ("VIOLATED", "ERROR")
            assert found["schedule"]
            assert (cell["architecture"], found["variant"], found["law"]) not in failed
            assert found["case"] <= (evidence["many"] if cell["many"] else evidence["examples"])


def test_the_survey_catches_nearly_all_and_what_it_misses_is_explained(evidence: Any) -> None:
    outcomes = Counter(cell["outcome"] for cell in evidence["cells"])
    assert outcomes["caught"] / (outcomes["caught"] + outcomes["missed"]) >= 0.9
    missed = {cell["fault"] for cell in evidence["cells"] if cell["outcome"] == "missed"}
    assert missed == {name for name, fault in FAULTS.items() if fault.missed}
    text = table(evidence)
    assert all(f"| `{name}` |" in text for name in FAULTS)
    assert f"{len(evidence['cells'])} pairs" in summary(evidence)


def test_errors_are_the_librarys_and_not_of_the_faults(evidence: Any) -> None:
    ours = {path.name for path in FOLDER.glob("*.py")}
    reasons = [cell["reason"] or "" for cell in evidence["cells"]]
    assert not [reason for reason in reasons if any(f"({name}:" in reason for name in ours)]


@pytest.mark.extras
@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_put_in_and_taken_out(name: str) -> None:
    fault, architecture = FAULTS[name], FAULTS[name].architectures[0]
    before = here(fault, architecture)
    assert before
    during: list[Any] = []
    with suppress(KeyError), patched(fault, architecture):
        during += here(fault, architecture)
        raise KeyError  # also where the block raises
    after = here(fault, architecture)
    pairs = list(zip(before, during, after, strict=True))
    assert all(old is new for old, _, new in pairs)
    assert all(inspect.isfunction(wrong) and wrong is not old for old, wrong, _ in pairs)


@pytest.mark.extras
@pytest.mark.usefixtures("library")
def test_a_place_that_an_architecture_lacks_is_named() -> None:
    with pytest.raises(LookupError, match="gpt2 has no modeling"):
        patched(FAULTS["rotary-one-angle"], "gpt2").__enter__()


@pytest.mark.extras
@pytest.mark.usefixtures("library")
def test_the_survey_catches_a_fault_and_holds_without_it() -> None:
    from benchmarks.engine_faults.measuring import FAILED, measure, survey

    found = measure("positions-restart", "llama", frozenset())
    assert (found["outcome"], found["law"], found["schedule"]) == ("caught", "schedule", "1+1")
    cells = list(survey("llama", ("dynamic",)))
    assert len(cells) >= 10
    assert not [cell for cell in cells if cell.answer in FAILED]


@pytest.mark.extras
@pytest.mark.usefixtures("library")
def test_what_fails_without_the_fault_is_not_caught() -> None:
    from benchmarks.engine_faults.measuring import measure

    everything = frozenset((variant, law) for variant in VARIANTS for law in LAWS)
    found = measure("alibi-counts-pads", "bloom", everything)
    assert found["outcome"] == "within tolerance"


@pytest.mark.extras
@pytest.mark.usefixtures("library")
def test_a_fault_that_is_not_reached_changes_no_bit() -> None:
    from benchmarks.engine_faults.comparing import COMPARED, compared

    change = compared(FAULTS["window-one-wide"], "llama")
    assert (change.cases, change.changed, change.share) == (sum(COMPARED.values()), 0, 0.0)
    assert not change.beyond
