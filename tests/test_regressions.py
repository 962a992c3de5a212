"""Failures that were found once stay fixed: every file in ``evidence/regressions`` replays so."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cachecheck.errors import InputError
from cachecheck.laws import LAWS
from cachecheck.replay import Replayed, replay, save_failure, stored_cases
from cachecheck.replay.failure import FAILURE, read_failure
from cachecheck.schedule import Case, Schedule
from cachecheck.verdict import Answer, Verdict, Violation
from tests.test_cli_process import ROOT

STORE = ROOT / "evidence" / "regressions"
DECODER = "from tests.decoders_for_tests import {0}\n\ndef make(seed):\n    return {0}(seed)\n"


def relapsed(folder: Path) -> list[str]:
    """What is not FIXED among the stored failures of a folder: a line each."""
    answers = [(path.name, *replay(path)) for path in sorted(folder.glob("*.json"))]
    return [f"{name}: {answer}: {line}" for name, answer, line in answers if answer != "FIXED"]


def malformed(folder: Path) -> list[str]:
    """What is wrong with the files of a folder, one line for each that is not as it is written."""
    return [f"{path.name}: {why}" for path in sorted(folder.iterdir()) if (why := flaw(path))]


def flaw(path: Path) -> str:
    """Why a file is no stored failure as `save_failure` writes it; nothing if it is one."""
    try:
        stored = read_failure(path)
    except InputError as error:
        return f"not a stored failure: {error}"
    if path.read_text(encoding="utf-8") != FAILURE.encode(stored):
        return "other fields, or another version"
    known = stored_cases(stored.target, stored.law, path.parent)
    if (stored.decoder_seed, stored.case) not in known:
        return "a search would pass it over"
    if not re.fullmatch(rf".+-{stored.law}-[0-9a-f]{{8}}\.json", path.name):
        return "another name than its content gives"
    return ""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with stored failures of a decoder that was mended since."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    for schedule, tokens in (("1+2", (0, 0, 0)), ("5+3", tuple(range(8)))):
        broken = Violation("schedule", "rows", 1, 1.0, 1e-12, "other rows than one full pass")
        verdict = Verdict(
            "schedule",
            Answer.VIOLATED,
            schedule=schedule,
            tokens=tokens,
            decoder_seed=0,
            violation=broken,
            message=broken.message,
        )
        save_failure(verdict, "mine.py:make", Path("evidence/regressions"))
    Path("mine.py").write_text(DECODER.format("Sums"))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("_cachecheck_target_mine_")]:
        del sys.modules[name]


@pytest.fixture
def store(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project's own stored failures; those of the mended decoder while it has none."""
    if not list(STORE.glob("*.json")):
        return here / "evidence/regressions"
    monkeypatch.chdir(ROOT)  # targets are named from there
    return STORE


def test_every_failure_that_was_stored_is_fixed(store: Path) -> None:
    assert list(store.glob("*.json")) != []
    assert relapsed(store) == []


def test_every_stored_file_is_well_formed(store: Path) -> None:
    assert malformed(store) == []


def test_a_failure_that_is_back_is_told_by_name(here: Path) -> None:
    folder = here / "evidence/regressions"
    Path("mine.py").write_text(DECODER.format("ForgetsOffset"))
    lines = relapsed(folder)
    assert [line.partition(": ")[0] for line in lines] == sorted(p.name for p in folder.iterdir())
    assert all(": FAILED: schedule on mine.py:make, schedule " in line for line in lines)
    Path("mine.py").unlink()
    assert all(": ERROR: no file mine.py" in line for line in relapsed(folder))


def test_what_is_not_well_formed_is_told_by_name(here: Path) -> None:
    folder = here / "evidence/regressions"
    (first, second) = sorted(folder.iterdir())
    text = first.read_text()
    good = json.loads(text)
    for wrong in ("{", *(json.dumps(good | one) for one in ({"law": "gravity"}, {"version": 3}))):
        first.write_text(wrong)
        assert malformed(folder)[0].startswith(f"{first.name}: not a stored failure: ")
    first.write_text(json.dumps(good | {"note": "mine"}))
    assert malformed(folder) == [f"{first.name}: other fields, or another version"]
    first.write_text(text)
    second.rename(folder / "mine.json")
    assert malformed(folder) == ["mine.json: another name than its content gives"]
    assert relapsed(folder) == []


@given(
    chunks=st.lists(st.integers(1, 30), min_size=1, max_size=8),
    law=st.sampled_from([law.id for law in LAWS.values() if law.everywhere]),
    seed=st.integers(0, 9),
    data=st.data(),
)
def test_whatever_is_stored_is_well_formed_and_read_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory,
    chunks: list[int],
    law: str,
    seed: int,
    data: st.DataObject,
) -> None:
    folder = tmp_path_factory.mktemp("stored")
    tokens = data.draw(st.tuples(*[st.integers(0, 7)] * sum(chunks)))
    case = Case(tokens, Schedule.of(chunks))
    verdict = Verdict(
        law, Answer.ERROR, schedule=str(case.schedule), tokens=tokens, decoder_seed=seed
    )
    path = save_failure(verdict, "tests.decoders_for_tests:Sums", folder)
    assert malformed(folder) == []
    assert stored_cases("tests.decoders_for_tests:Sums", law, folder) == ((seed, case),)
    assert stored_cases("tests.decoders_for_tests:Faint", law, folder) == ()
    if law == "schedule":
        assert replay(path)[0] is Replayed.FIXED
