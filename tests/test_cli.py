"""The command line from inside: exit codes, files written, options handed on."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis.configuration import storage_directory

from cachecheck.cli import main
from cachecheck.laws import LAWS

TESTS = "tests.decoders_for_tests"


@dataclass(frozen=True)
class Ran:
    """What one run gave."""

    code: int
    out: str
    err: str


@pytest.fixture
def cachecheck(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ran]:
    """Run a command line, in an empty folder."""
    storage_directory("x", intent_to_write=False)  # a run would settle it for all later tests
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())

    def run(*arguments: str) -> Ran:
        try:
            code = main(arguments)
        except SystemExit as stop:  # argparse
            code = stop.code if isinstance(stop.code, int) else 1
        return Ran(code, *capsys.readouterr())

    return run


# A decoder, the exit code, and what the report must say.
ENDS = [
    ("Sums", 0, ["8 of 8 laws hold. A fault that shows in 25.9% of such cases"]),
    (
        "ForgetsOffset",
        1,
        [
            f"VIOLATED  schedule   {TESTS}:ForgetsOffset   seed 0\n  smallest schedule   1+2  ",
            "  replay              cachecheck replay evidence/regressions/tests-",
            "3 of 8 laws violated: schedule, branch, programs\nBegin with schedule. These laws",
            "UNSUPPORTED  work, window, overflow, crop, save, reset, padding, batch, reorder   not",
        ],
    ),
    ("Unmoved", 1, ["  unmoved row         position 1     chunk 2, row 0"]),
    ("RaisesOnThird", 2, ["ERROR  schedule", "RuntimeError: out of memory at 3 tokens (decoders"]),
    (
        "Dropout",
        2,
        ["switch off dropout", "17 of 17 laws could not be checked: causality,"],
    ),
    ("NanFrom5", 2, ["ERROR  schedule", "smallest schedule   5 ", "returned nan in row 4, column"]),
    ("OnDevice", 2, ["ERROR  OnDevice lacks vocab_size and full and new_cache and extend; a"]),
    ("Nobody", 2, [f"ERROR  {TESTS} has no 'Nobody'; it has Sums, Altered, both, OnDevice,"]),
    (
        "Faint",
        3,
        ["INCONCLUSIVE  sensitivity   changing a cached token changes", "no law is broken"],
    ),
]


@pytest.mark.parametrize(("name", "code", "parts"), ENDS)
def test_exit_codes_and_what_is_said_with_them(
    cachecheck: Callable[..., Ran], name: str, code: int, parts: list[str]
) -> None:
    ran = cachecheck("fuzz", f"{TESTS}:{name}", "--examples", "10")
    assert (ran.code, ran.err) == (code, "")
    for part in parts:
        assert part in ran.out
    assert ran.out.startswith(f"{TESTS}:{name}   seed 0, 10 examples a law\ncachecheck ")
    for ours in ("Traceback", "cachecheck/", "loop.py", "core.py"):
        assert ours not in ran.out
    assert not Path(".hypothesis").exists()


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """The folder of one run that wrote everything it can, and its report."""
    folder = tmp_path_factory.mktemp("written")
    (folder / "out.json").write_text("an older and much longer file" * 100)
    storage_directory("x", intent_to_write=False)
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as out:
        patch.chdir(folder)
        patch.setattr(sys, "path", sys.path.copy())
        options = ("--examples", "10", "--json", "out.json", "--junitxml", "made/here/junit.xml")
        code = main(["fuzz", f"{TESTS}:ForgetsOffset", *options, "--save", "a/new/folder"])
        assert code == 1
        yield folder, out.getvalue()


def test_json_holds_the_target_the_seed_and_a_verdict_a_law(written: tuple[Path, str]) -> None:
    report = json.loads((written[0] / "out.json").read_text())
    assert set(report) == {
        *("target", "seed", "versions", "verdicts", "begin_with", "replays"),
    }
    assert set(report["versions"]) == {"cachecheck", "Python", "numpy", "hypothesis", "pytest"}
    assert (report["target"], report["seed"]) == (f"{TESTS}:ForgetsOffset", 0)
    assert [one["law"] for one in report["verdicts"]] == list(LAWS)
    by_law = {one["law"]: one for one in report["verdicts"]}
    assert by_law["schedule"]["verdict"] == "VIOLATED"
    assert by_law["schedule"]["tokens"] == [0, 0, 0]
    assert by_law["prefix"]["examples"] == 10


def test_nothing_is_written_but_what_was_asked_for(written: tuple[Path, str]) -> None:
    assert {path.name for path in written[0].iterdir()} == {"out.json", "made", "a"}


def test_the_stored_case_replays(written: tuple[Path, str], cachecheck: Callable[..., Ran]) -> None:
    (path,) = (written[0] / "a/new/folder").glob("*-schedule-*")
    assert f"cachecheck replay a/new/folder/{path.name}" in written[1]
    again = cachecheck("replay", str(path))
    assert again.code == 1
    assert again.out.startswith(f"FAILED  schedule on {TESTS}:ForgetsOffset, schedule 1+2: ")


def test_junitxml_has_a_test_case_a_law_and_the_block_in_the_failure(
    written: tuple[Path, str],
) -> None:
    tree = ET.parse(written[0] / "made/here/junit.xml")  # noqa: S314 - our own file
    failures = {case.get("name"): case.findtext("failure") for case in tree.iter("testcase")}
    assert set(failures) == {f"test_law[{law}]" for law in LAWS}
    text = failures.pop("test_law[schedule]")
    assert text is not None
    assert text.startswith("schedule is VIOLATED at 1+2: decoding in these chunks")
    block = text[text.index("VIOLATED  schedule") : text.index("\n  run with")]
    assert f"{block}\n" in written[1]  # the block of the report, line for line
    follow = {"test_law[branch]", "test_law[programs]"}
    assert {name for name, failed in failures.items() if failed is not None} == follow


def test_laws_may_be_named_and_come_in_their_own_order(cachecheck: Callable[..., Ran]) -> None:
    ran = cachecheck(
        *("fuzz", f"{TESTS}:Sums", "--examples", "5"),
        *("--law", "schedule", "--law", "prefix", "--law", "schedule"),
    )
    assert ran.code == 0
    assert [line.split()[0] for line in ran.out.splitlines() if "HOLDS" in line] == [
        "prefix",
        "schedule",
    ]


def test_the_seed_and_the_longest_sequence_reach_the_search(
    cachecheck: Callable[..., Ran],
) -> None:
    one, same, other = (
        cachecheck("fuzz", f"{TESTS}:Sums", "--examples", "5", "--law", "schedule", "--seed", seed)
        for seed in ("3", "3", "4")
    )
    numbers = [ran.out.splitlines()[4].split()[3:5] for ran in (one, same, other)]
    assert numbers[0] == numbers[1] != numbers[2]
    short = ("--max-length", "2", "--law", "schedule", "--examples", "5")
    assert cachecheck("fuzz", f"{TESTS}:RaisesOnThird", *short).code == 0


# A command line that cannot run, and the one line on the error stream.
REFUSED: dict[str, tuple[str, str]] = {
    "unknown law": (
        "--law gravity",
        "unknown law 'gravity'; known: causality, prefix, determinism,",
    ),
    "no examples": ("--examples 0", "argument --examples: expected an integer >= 1, got '0'"),
    "half an example": ("--examples 1.5", "expected an integer >= 1, got '1.5'"),
    "negative seed": ("--seed -1", "argument --seed: expected an integer >= 0, got '-1'"),
    "too short": ("--max-length 1", "argument --max-length: expected an integer >= 2"),
    "workers": ("-n many", "argument -n: expected a number of processes or auto, got 'many'"),
    "json folder": ("--json nowhere/out.json", "cannot write nowhere/out.json: no folder nowhere"),
    "json is a folder": ("--json .", "cannot write .: it is a folder; name a file"),
    "save": ("--save file/cases", "cannot write into file/cases: file is no folder"),
    "junit": ("--junitxml file/j.xml", "cannot write into file: file is no folder"),
    "junit is a folder": ("--junitxml .", "cannot write .: it is a folder; name a file"),
    "pytest": ("-- --nonsense", "pytest refused its options: unrecognized arguments: --nonsense"),
    "pdb in workers": ("--law prefix -n 2 -- --pdb", "refused its options: --pdb is incompatible"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_run_is_refused_in_one_line(cachecheck: Callable[..., Ran], name: str) -> None:
    Path("file").touch()
    options, part = REFUSED[name]
    ran = cachecheck("fuzz", f"{TESTS}:Sums", *options.split())
    assert ran.code == 2
    last = ran.err.splitlines()[-1]
    assert last.startswith(("cachecheck: ", "cachecheck fuzz: error: "))
    assert part in last
    assert "Traceback" not in ran.out + ran.err
    assert [path.name for path in Path().iterdir()] == ["file"]


def test_what_follows_two_dashes_is_pytests(cachecheck: Callable[..., Ran]) -> None:
    ran = cachecheck(
        "fuzz", f"{TESTS}:Sums", "--examples", "5", "--", "--junitxml=x.xml", "-k", "schedule"
    )
    assert Path("x.xml").is_file()
    assert "schedule      HOLDS            5" in ran.out
    assert ran.code == 2  # the laws left out are not passed over in silence
    assert "not run: pytest's options left this law out" in ran.out


def test_stopping_at_the_first_failure_blames_no_decoder_for_the_rest(
    cachecheck: Callable[..., Ran],
) -> None:
    ran = cachecheck("fuzz", f"{TESTS}:ForgetsOffset", "--examples", "10", "--", "-x")
    assert ran.code == 1
    assert "perhaps the decoder crashed it" not in ran.out
    assert "1 of 17 laws violated: schedule; 13 of 17 laws could not be checked" in ran.out


def test_a_finding_is_not_lost_when_it_cannot_be_stored(
    cachecheck: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("cachecheck.replay.failure.write_whole", full_disk)
    ran = cachecheck("fuzz", f"{TESTS}:ForgetsOffset", "--examples", "10", "--law", "schedule")
    assert ran.code == 1
    assert "could not be stored in evidence/regressions: No space left on device" in ran.out
    assert "cachecheck replay" not in ran.out


def test_a_json_file_that_cannot_be_written_in_the_end_is_said_in_one_line(
    cachecheck: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("cachecheck.commands.fuzz.write_whole", full_disk)
    ran = cachecheck(
        *("fuzz", f"{TESTS}:Sums", "--examples", "5", "--law", "prefix", "--json", "out.json")
    )
    assert (ran.code, ran.err) == (
        2,
        "cachecheck: cannot write out.json: No space left on device\n",
    )
    assert "1 of 1 laws hold" in ran.out


def test_a_mistake_of_our_own_is_an_error_and_not_a_crash_of_the_decoder(
    cachecheck: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("cachecheck.session.law_run.search", broken)
    ran = cachecheck("fuzz", f"{TESTS}:Sums", "--examples", "5", "--law", "prefix")
    assert ran.code == 2
    line = "ERROR  cachecheck itself failed: ZeroDivisionError: division by zero; please report it"
    assert line in ran.out
