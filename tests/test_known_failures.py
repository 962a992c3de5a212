"""The ledger of known failures: read strictly, matched exactly, stale entries told.

Run alone: python -m pytest tests/test_known_failures.py
"""

from __future__ import annotations

from typing import Any

import pytest

from cachecheck.engines.known_failures import Ledger, load_ledger, read_ledger
from cachecheck.errors import InputError

ENTRY: dict[str, Any] = {
    "id": "drops-state",
    "kind": "tolerated",
    "architectures": ["mamba", "falcon_mamba"],
    "variants": ["*"],
    "laws": ["schedule", "crop"],
    "answers": ["VIOLATED"],
    "seen": "a chunk starts from zeros",
    "versions": ["5.24.0"],
    "finding": "drops-state",
    "judgement": "bug",
}


def ledger(**changes: Any) -> Ledger:
    """A ledger of one entry."""
    return read_ledger([{**ENTRY, **changes}], "test.json")


@pytest.mark.parametrize(
    ("failure", "known"),
    [
        (("mamba", "static", "schedule", "VIOLATED"), True),
        (("mamba2", "static", "schedule", "VIOLATED"), False),
        (("mamba", "static", "batch", "VIOLATED"), False),
        (("mamba", "static", "schedule", "ERROR"), False),
    ],
)
def test_an_entry_explains_its_own_cells_and_no_others(
    failure: tuple[str, str, str, str], known: bool
) -> None:
    assert (ledger().explaining(failure) is not None) == known


def test_an_entry_is_stale_where_none_of_its_cells_fails() -> None:
    cells = [
        ("mamba", "dynamic", "schedule", "VIOLATED"),
        ("mamba", "dynamic", "crop", "HOLDS"),
        ("falcon_mamba", "dynamic", "schedule", "HOLDS"),
    ]
    assert [name for _, name in ledger().stale(cells)] == ["falcon_mamba"]


def test_an_entry_for_all_architectures_is_stale_only_if_none_fails() -> None:
    everywhere = ledger(architectures=["*"])
    failing = [("a", "x", "crop", "VIOLATED"), ("b", "x", "crop", "HOLDS")]
    assert everywhere.stale(failing) == []
    passing = [(name, variant, law, "HOLDS") for name, variant, law, _ in failing]
    assert [name for _, name in everywhere.stale(passing)] == ["a", "b"]


def test_an_entry_that_few_cases_meet_is_stale_only_if_none_fails() -> None:
    failing = [("mamba", "x", "crop", "HOLDS"), ("falcon_mamba", "x", "crop", "VIOLATED")]
    assert [name for _, name in ledger().stale(failing)] == ["mamba"]
    assert ledger(seldom=True).stale(failing) == []
    passing = [(name, variant, law, "HOLDS") for name, variant, law, _ in failing]
    assert [name for _, name in ledger(seldom=True).stale(passing)] == ["mamba", "falcon_mamba"]


def test_an_architecture_that_did_not_run_is_not_stale() -> None:
    assert ledger().stale([("llama", "dynamic", "schedule", "HOLDS")]) == []


def test_what_is_quarantined_is_not_run_and_never_stale() -> None:
    held = ledger(kind="quarantined", laws=["*"], variants=["static"])
    assert held.quarantined("mamba") == (("static", "*"),)
    assert held.quarantined("llama") == ()
    assert held.stale([("mamba", "dynamic", "schedule", "HOLDS")]) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seen": ""}, "lacks seen"),
        ({"versions": []}, "lacks versions"),
        ({"sean": "x"}, "has an unknown sean"),
        ({"kind": "ignored"}, "neither tolerated nor quarantined"),
        ({"finding": ""}, "needs a finding"),
        ({"judgement": "nobody knows"}, "needs a finding, and a judgement of bug"),
    ],
)
def test_a_wrong_entry_is_refused_with_its_name(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        ledger(**changes)
    assert "test.json: entry 'drops-state'" in str(caught.value)
    assert said in str(caught.value)


def test_an_entry_comes_once() -> None:
    with pytest.raises(InputError, match="is there twice"):
        read_ledger([ENTRY, ENTRY], "test.json")


def test_the_ledger_of_transformers_can_be_read_and_has_no_overlaps() -> None:
    entries = load_ledger("transformers").entries
    assert entries
    for entry in entries:
        assert entry.answers


def test_an_unknown_library_has_no_ledger() -> None:
    with pytest.raises(InputError, match="no ledger of known failures for 'jax'"):
        load_ledger("jax")
