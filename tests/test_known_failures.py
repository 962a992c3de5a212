"""The ledger of known failures: read strictly, matched exactly, stale entries told.

Run alone: python -m pytest tests/test_known_failures.py
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from cachecheck.engines import registry
from cachecheck.engines.engine import Engine
from cachecheck.engines.known_failures import LEDGER, Ledger, load_ledger
from cachecheck.errors import InputError

ENTRY: dict[str, Any] = {
    "id": "drops-state",
    "kind": "tolerated",
    "architectures": ["mamba", "falcon_mamba"],
    "variants": ["*"],
    "laws": ["schedule", "crop"],
    "answers": ["VIOLATED"],
    "symptom": "a chunk starts from zeros",
    "versions": ["5.24.0"],
    "finding": "drops-state",
    "judgement": "bug",
}


def ledger(**changes: Any) -> Ledger:
    """A ledger of one entry."""
    return stored({**ENTRY, **changes})


def stored(*entries: dict[str, Any]) -> Ledger:
    """A ledger of these entries, read as from a file."""
    data = {"cachecheck": LEDGER.name, "version": LEDGER.version, "entries": entries}
    return LEDGER.decode(json.dumps(data), "test.json")


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
    quarantine = ledger(kind="quarantined", laws=["*"], variants=["static"])
    assert quarantine.quarantined("mamba") == (("static", "*"),)
    assert quarantine.quarantined("llama") == ()
    assert quarantine.stale([("mamba", "dynamic", "schedule", "HOLDS")]) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"symptom": ""}, "`$.entries[0].symptom`"),
        ({"versions": []}, "`$.entries[0].versions`"),
        ({"answers": ["HOLDS"]}, "Invalid enum value 'HOLDS' - at `$.entries[0].answers[0]`"),
        ({"seldon": True}, "unknown field `seldon`"),
        ({"kind": "ignored"}, "Invalid enum value 'ignored' - at `$.entries[0].kind`"),
        ({"judgement": "nobody knows"}, "`$.entries[0].judgement`"),
        ({"finding": ""}, "'drops-state' is of a violation: give its finding and judgement"),
        ({"judgement": ""}, "'drops-state' is of a violation: give its finding and judgement"),
    ],
)
def test_a_wrong_entry_is_refused_with_its_place(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        ledger(**changes)
    assert str(caught.value).startswith("test.json ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [name for name in ENTRY if name not in ("finding", "judgement")])
def test_an_entry_that_lacks_something_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"missing required field `{name}`"):
        stored({key: value for key, value in ENTRY.items() if key != name})


def test_an_entry_comes_once() -> None:
    with pytest.raises(InputError, match="entry 'drops-state' is there twice"):
        stored(ENTRY, ENTRY)


def test_the_ledger_of_transformers_can_be_read_and_has_no_overlaps() -> None:
    entries = load_ledger("transformers").entries
    assert entries
    for entry in entries:
        assert entry.answers


def test_an_unknown_library_has_no_ledger() -> None:
    with pytest.raises(InputError, match="no engine 'jax'; known: transformers"):
        load_ledger("jax")


def test_an_engine_that_names_no_ledger_has_an_empty_one_and_a_wrong_name_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without = Engine("none", "none", (), factory="")
    wrong = Engine("wrong", "wrong", (), factory="", known_failures="cachecheck:nowhere.json")
    monkeypatch.setattr(registry, "ENGINES", (without, wrong))
    assert load_ledger("none") == Ledger()
    with pytest.raises(InputError, match=r"cannot read nowhere\.json of cachecheck: No such file"):
        load_ledger("wrong")
