"""Stored failures: written whole, under a name of their own, and tried again on today's decoder."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cachecheck.cli import main
from cachecheck.errors import InputError
from cachecheck.files import write_whole
from cachecheck.laws import LAWS
from cachecheck.replay import Replayed, replay, save_failure, stored_cases
from cachecheck.replay.failure import FAILURE, Failure
from cachecheck.schedule import Case, Schedule
from cachecheck.search import search
from cachecheck.search.cases import Effort
from cachecheck.target import as_target
from cachecheck.verdict import Code, Reason, Verdict
from tests import decoders_for_tests

STORE = Path("evidence/regressions")


def write_decoder(kind: str) -> None:
    """The file that the target ``mine.py:make`` names, around one of the shared decoders."""
    lines = (f"from tests.decoders_for_tests import {kind}", f"def make(seed): return {kind}(seed)")
    Path("mine.py").write_text("\n".join(lines))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current directory, with a decoder that forgets its offset."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    write_decoder("ForgetsOffset")
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("_cachecheck_target_mine_")]:
        del sys.modules[name]


@cache
def found(kind: str = "ForgetsOffset", law: str = "schedule") -> Verdict:
    """What a short search finds in one of the shared decoders."""
    target = as_target(getattr(decoders_for_tests, kind), "mine.py:make")
    return search(LAWS[law], target, Effort(examples=20))[0]


def stored(**changes: Any) -> Path:
    """A stored failure with some of its fields changed; ``...`` takes a field away."""
    path = save_failure(found(), "mine.py:make", STORE)
    content = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({k: v for k, v in content.items() if v is not ...}))
    return path


def test_a_failure_fails_again_until_the_decoder_is_mended(
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = str(save_failure(found(), "mine.py:make", STORE))
    assert main(["replay", path]) == 1
    assert capsys.readouterr().out == (
        "FAILED  schedule on mine.py:make, schedule 1+2: "
        "decoding in these chunks gives other rows than one full pass\n"
    )
    write_decoder("Sums")
    assert main(["replay", path]) == 0
    out = capsys.readouterr().out
    assert re.fullmatch(
        r"FIXED  schedule on mine.py:make, schedule 1\+2: holds now, difference \S+\n", out
    )


@pytest.mark.parametrize(
    ("kind", "law", "answer", "part"),
    [
        ("RaisesOnThird", "schedule", Replayed.ERROR, "out of memory at 3 tokens"),
        ("Unmoved", "sensitivity", Replayed.FAILED, "changes no later row: the cache is not used"),
        ("ForgetsOffset", "schedule", Replayed.FAILED, "gives other rows than one full pass"),
    ],
)
def test_every_kind_of_finding_can_be_replayed(
    kind: str, law: str, answer: Replayed, part: str
) -> None:
    path = save_failure(found(kind, law), "mine.py:make", STORE)
    write_decoder(kind)
    assert replay(path)[0] is answer
    assert part in replay(path)[1]
    write_decoder("Sums")
    assert replay(path)[0] is Replayed.FIXED


def test_what_the_releases_before_stored_is_read_and_overwritten_when_it_is_found_again() -> None:
    """As release 0.4.0 wrote it, under the name that it gave it."""
    path = STORE / "mine-py-make-schedule-b6130e14.json"
    STORE.mkdir(parents=True)
    old = {
        "format": 1,
        "target": "mine.py:make",
        "law": "schedule",
        "kind": "rows",
        "decoder_seed": 0,
        "schedule": "1+2",
        "tokens": [0, 0, 0],
        "message": "decoding in these chunks gives other rows than one full pass",
    }
    path.write_text(json.dumps(old, indent=2) + "\n")
    assert replay(path)[0] is Replayed.FAILED
    case = Case((0, 0, 0), Schedule.of([1, 2]))
    assert stored_cases("mine.py:make", "schedule", STORE) == ((0, case),)
    assert save_failure(found(), "mine.py:make", STORE) == path
    assert json.loads(path.read_text())["version"] == 2
    path.write_text(json.dumps(old | {"tokens": [0, True, 0]}))
    assert replay(path)[0] is Replayed.ERROR


def test_the_same_failure_found_again_is_the_same_file() -> None:
    first = save_failure(found(), "mine.py:make", STORE)
    again = save_failure(found(), "mine.py:make", STORE)
    assert first == again
    assert [path.name for path in STORE.iterdir()] == [first.name]
    assert re.fullmatch(r"mine-py-make-schedule-[0-9a-f]{8}\.json", first.name)


def test_a_failure_keeps_its_file_when_only_its_words_change() -> None:
    """An ERROR's message names a line of the decoder's file, which moves with every edit."""

    def said(words: str) -> Reason:
        return Reason(Code.RAISED, quoted=words)

    raised = found("RaisesOnThird")
    first, again = (
        save_failure(replace(raised, reasons=(said(words),)), "mine.py:make", STORE)
        for words in ("out of memory (mine.py:3)", "out of memory (mine.py:9)")
    )
    assert first == again
    assert json.loads(again.read_text())["message"] == "out of memory (mine.py:9)"


def test_other_failures_are_other_files() -> None:
    paths = {
        save_failure(found(), "mine.py:make", STORE),
        save_failure(found(), "mine.py:other", STORE),
        save_failure(found("RaisesOnThird"), "mine.py:make", STORE),
        save_failure(replace(found(), tokens=(1, 0, 0)), "mine.py:make", STORE),
        save_failure(replace(found(), decoder_seed=1), "mine.py:make", STORE),
    }
    assert len(paths) == 5


def test_a_target_with_a_long_path_still_gives_a_file_name() -> None:
    path = save_failure(found(), "a/" * 200 + "mine.py:make", STORE)
    assert path.is_file()
    assert path.name.endswith(f"mine-py-make-schedule-{path.stem[-8:]}.json")


# Fields of a stored failure changed, and what replaying it then says.
CHANGED: dict[str, tuple[dict[str, Any], str]] = {
    "version": ({"version": 3}, "is a failure of version 3; this release reads version 2"),
    "no version": ({"version": ...}, "missing required field `version`"),
    "kind of file": ({"cachecheck": "verdict"}, "is a stored verdict; expected a failure"),
    "law": (
        {"law": "gravity"},
        "unknown law 'gravity'; known: causality, prefix, determinism, schedule",
    ),
    "no law": ({"law": ...}, "missing required field `law`"),
    "target": ({"target": "gone.py:make"}, "no file gone.py in "),
    "target's type": ({"target": 3}, "Expected `str`, got `int` - at `$.target`"),
    "target without a member": ({"target": "mine.py"}, "unknown target 'mine.py'; expected"),
    "member": ({"target": "mine.py:build"}, "mine.py has no 'build'; it has make"),
    "seed": ({"decoder_seed": "0"}, "Expected `int`, got `str` - at `$.decoder_seed`"),
    "schedule": ({"schedule": "1+0"}, "is not a step of a schedule; expected something like 5+3"),
    "sum": ({"schedule": "5"}, "the schedule 5 is for 5 tokens; got 3"),
    "one call": (
        {"law": "sensitivity", "schedule": "3"},
        "sensitivity needs 2 calls or more; the schedule is 3",
    ),
    "one call, prefix": ({"law": "prefix", "schedule": "3"}, "prefix needs 2 calls"),
    "token's type": ({"tokens": [0, "1", 2]}, "Expected `int`, got `str` - at `$.tokens[1]`"),
    "a truth for a token": ({"tokens": [0, True, 2]}, "Expected `int`, got `bool`"),
    "high token": ({"tokens": [0, 8, 0]}, "token 8 is outside the vocabulary of 8"),
    "negative token": ({"tokens": [0, -1, 0]}, "token -1 is outside the vocabulary of 8"),
    "a number of 5,000 digits for tokens": ({"schedule": "9" * 5000}, "its schedule cannot be"),
    "too many tokens": ({"schedule": "99999999"}, "a call has at most 1,000,000 tokens"),
    "20,000 steps": (
        {"schedule": "+".join("1" * 20_000), "tokens": [0] * 20_000},
        "its schedule has 20,000 steps; a stored failure has at most 10,000",
    ),
    "20,000 other steps": (
        {"schedule": "1 " + "save " * 19_999, "tokens": [0]},
        "its schedule has 20,000 steps; a stored failure has at most 10,000",
    ),
    "9,000 steps for other tokens": (
        {"schedule": "+".join("1" * 9_000)},
        " is for 9000 tokens; got 3",
    ),
    "code above the project": ({"target": "../evil.py:make"}, "lies outside the project ("),
    "code elsewhere": ({"target": "/opt/evil.py:make"}, "lies outside the project ("),
    "Python's own code": ({"target": "os:abort"}, "os:abort is Python's own code"),
    "imports from above": ({"import_paths": [".."]}, "the import path .. lies outside the project"),
    "a terminal's commands": ({"target": "\x1b[2Jgone.py:make"}, "no file ?[2Jgone.py in "),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_stored_failure_that_makes_no_sense_is_an_error(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    changes, part = CHANGED[name]
    path = stored(**changes)
    assert main(["replay", str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.out.startswith("ERROR  ")
    assert part in captured.out
    assert captured.out.count("\n") == 1
    assert len(captured.out) < 1200
    assert captured.err == ""


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (None, "cannot read a.json: No such file or directory"),
        (b"{", "a.json is not a stored failure: "),
        (b"", "a.json is not a stored failure: "),
        (b"[]", "a.json is not a stored failure: "),
        (b'{"format": 2}', "a.json is not a stored failure: "),
        (b"[" * 200_000, "a.json is not a stored failure: "),
        (b'{"a":' * 200_000, "a.json is not a stored failure: "),
        (b'{"format": 1, "tokens": [' + b"9" * 5_000 + b"]}", "a.json is not a stored failure: "),
        (b'{"format": 1, "target": "\\ud800"}', "a.json is not a stored failure: "),
        (b"\xff\xfe{}", "a.json is not a stored failure: "),
    ],
)
def test_what_is_no_stored_failure_is_an_error(
    text: bytes | None, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path("a.json")
    if text is not None:
        path.write_bytes(text)
    assert main(["replay", str(path)]) == 2
    captured = capsys.readouterr()
    assert (captured.out.startswith("ERROR  "), part in captured.out) == (True, True)
    assert (captured.out.count("\n"), captured.err) == (1, "")
    assert len(captured.out) < 700


STEPS = st.sampled_from(
    [
        *("1", "2+1", "b=a", "b=new", "b:1", "b:2+1", "crop1", "crop0", "b:crop1", "save", "reset"),
        *("release", "b=new*2", "b:1/1", "b:[1,0]", "c=b[0]", "c=a&b", "c:2", "c:1/1/2", "a=new"),
    ]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    law=st.sampled_from(list(LAWS)),
    steps=st.lists(STEPS, min_size=1, max_size=6).map(" ".join),
    fault=st.sampled_from(["reference", "reference:batched", "fault:copying-mask-missing"]),
)
def test_whatever_the_file_says_the_answer_is_one_line(law: str, steps: str, fault: str) -> None:
    """Schedules that fit and such as do not, under every law."""
    try:
        length = Schedule.parse(steps).length
    except InputError:
        length = 1
    failure = Failure(fault, law, "rows", 0, steps, tuple(range(length)))
    Path("any.json").write_text(FAILURE.encode(failure))
    answer, line = replay(Path("any.json"))
    assert answer in Replayed
    assert line.isprintable()
    assert 0 < len(line) < 1200


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_file_cut_short_is_an_error(share: float) -> None:
    path = save_failure(found(), "mine.py:make", STORE)
    text = path.read_text()
    path.write_text(text[: int(len(text) * share)])
    answer, line = replay(path)
    assert (answer, "\n" in line) == (Replayed.ERROR, False)
    assert "is not a stored failure" in line


def test_a_folder_is_no_stored_failure() -> None:
    assert replay(Path()) == (Replayed.ERROR, "cannot read .: Is a directory")


def test_a_decoder_that_now_fails_outright_is_an_error() -> None:
    path = stored()
    Path("mine.py").write_text("def make(seed): return 3\n")
    assert replay(path)[0] is Replayed.ERROR
    Path("mine.py").write_text("raise RuntimeError('half written')\n")
    assert "half written (mine.py:1)" in replay(path)[1]


def test_writing_is_whole_or_not_at_all(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = here / "kept.json"
    write_whole(path, "old\n")

    def crash(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cachecheck.files.os.fsync", crash)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, "new\n")
    monkeypatch.undo()
    assert path.read_text() == "old\n"
    assert sorted(one.name for one in here.iterdir()) == ["kept.json", "mine.py"]
    write_whole(path, "new ü\n")
    assert path.read_bytes() == "new ü\n".encode()


def test_a_written_file_has_the_rights_that_the_umask_leaves(here: Path) -> None:
    (here / "plain").touch()
    write_whole(here / "whole", "")
    assert (here / "whole").stat().st_mode == (here / "plain").stat().st_mode


def test_a_decoder_that_refuses_the_case_now_accuses_nobody() -> None:
    """It was an ERROR, so that a suite which replays stored files stayed red for a right cure."""
    path = save_failure(found("ForgetsOffset"), "mine.py:make", STORE)
    Path("mine.py").write_text(
        "from tests.decoders_for_tests import Sums\n"
        "class Refuses(Sums):\n"
        "    def extend(self, tokens, cache):\n"
        "        if cache[1] and len(tokens) > 1: raise NotImplementedError('no chunk')\n"
        "        return super().extend(tokens, cache)\n"
        "make = Refuses\n"
    )
    answer, line = replay(path)
    assert answer is Replayed.REFUSED
    assert "no chunk" in line
