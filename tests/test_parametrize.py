"""Laws as tests of anybody's suite: ``parametrize_with_laws``, run by a pytest inside."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from cachecheck import parametrize_with_laws
from cachecheck.errors import InputError
from cachecheck.guard import Guarded
from cachecheck.judge.margin import measure
from cachecheck.judge.vacuity import idle_rows
from cachecheck.laws import LAWS
from cachecheck.session.run_folder import RunFolder
from cachecheck.verdict import Verdict
from tests.decoders_for_tests import Sums
from tests.test_cli_process import ROOT, environment

pytest_plugins = ["pytester"]

PLUGIN = ("-p", "cachecheck.pytest_plugin", "-p", "no:cacheprovider")
OFFERED = [
    *("causality", "prefix", "determinism", "schedule"),
    *("frame", "sensitivity", "branch", "programs"),
]

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run pytest in this process on a test of one decoder; its workers find the project as well."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makeini("[pytest]\n")

    def inner(*arguments: str) -> pytest.RunResult:
        return pytester.runpytest_inprocess(*PLUGIN, *arguments)

    return inner


def suite(pytester: pytest.Pytester, decoder: str, more: str = "") -> None:
    """A file with a test of ``decoder``, a factory of `decoders_for_tests` or of ``more``."""
    lines = (
        "import cachecheck",
        "from tests.decoders_for_tests import *",
        more,
        f"@cachecheck.parametrize_with_laws({decoder})",
        "def test_mine(law):",
        "    law()",
    )
    pytester.makepyfile(test_mine="\n".join(lines))


def outcomes(result: pytest.RunResult) -> dict[str, str]:
    """By the name of the law, what became of its test, from the lines of ``-v``."""
    lines = [line.split() for line in result.outlines if "test_mine.py::test_mine[" in line]
    ids = [next(word for word in line if "::" in word) for line in lines]
    words = ("PASSED", "FAILED", "SKIPPED", "XFAIL", "XPASS", "ERROR")
    return {
        name.partition("[")[2].rstrip("]"): next(word for word in line if word in words)
        for name, line in zip(ids, lines, strict=True)
    }


# What the tests are called, and what becomes of them.


def test_there_is_a_test_for_each_law_by_its_name(run: Run, pytester: pytest.Pytester) -> None:
    suite(pytester, "Sums")
    result = run("--cachecheck-examples=3", "-v")
    result.assert_outcomes(passed=len(OFFERED), skipped=len(LAWS) - len(OFFERED))
    found = outcomes(result)
    assert list(found) == list(LAWS)
    assert [law for law, outcome in found.items() if outcome == "PASSED"] == OFFERED


def test_laws_are_chosen_in_the_order_given_and_skipped_with_the_reason(
    run: Run, pytester: pytest.Pytester
) -> None:
    suite(pytester, "Sums, laws=['schedule', 'crop', 'prefix']")
    result = run("--cachecheck-examples=3", "-v", "-rs")
    assert outcomes(result) == {"schedule": "PASSED", "crop": "SKIPPED", "prefix": "PASSED"}
    result.stdout.fnmatch_lines(["SKIPPED *UNSUPPORTED: not offered: crop(cache, length)"])


@pytest.mark.parametrize("capture", [(), ("--show-capture=no",)])
def test_a_broken_law_fails_with_the_block_of_the_smallest_case(
    run: Run, pytester: pytest.Pytester, capture: tuple[str, ...]
) -> None:
    suite(pytester, "ForgetsOffset, laws=['schedule', 'prefix']")
    result = run("--cachecheck-examples=20", "-v", *capture)
    assert outcomes(result) == {"schedule": "FAILED", "prefix": "PASSED"}
    result.stdout.fnmatch_lines(
        [
            "schedule is VIOLATED at 1+2: decoding in these chunks gives other rows than one *",
            "*--- cachecheck ---*",
            "VIOLATED  schedule   tests.decoders_for_tests:ForgetsOffset   seed 0",
            "  smallest schedule   1+2            3 tokens ?0, 0, 0?",
            "  first wrong row     position 1     chunk 2, row 0   *",
            "  what                decoding in these chunks gives other rows than one full pass",
            "  replay              cachecheck replay evidence/regressions/*.json",
            "  run with            seed 0, 20 examples a law; numpy *",
            "FAILED *test_mine?schedule? - Failed: schedule is VIOLATED at *",
        ]
    )
    assert result.stdout.str().count("VIOLATED  schedule") == 1
    assert "Traceback" not in result.stdout.str()
    (stored,) = (pytester.path / "evidence/regressions").iterdir()
    assert json.loads(stored.read_text())["schedule"] == "1+2"


def test_a_decoder_that_raises_fails_with_its_error(run: Run, pytester: pytest.Pytester) -> None:
    suite(pytester, "RaisesOnThird, laws=['schedule']")
    result = run("--cachecheck-examples=20")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["ERROR  schedule   tests.decoders_for_tests:RaisesOnThird   *"])
    result.stdout.fnmatch_lines(["*RuntimeError: out of memory at 3 tokens*"])


# What shows nothing is not green.

ZEROS = """
import numpy as np

class Zeros:
    vocab_size = 8
    def full(self, tokens): return np.zeros((len(tokens), 4))
    def new_cache(self): return 0
    def extend(self, tokens, cache): return self.full(tokens), cache + len(tokens)
"""


def test_a_decoder_that_returns_only_zeros_fails_wherever_it_is_checked(
    run: Run, pytester: pytest.Pytester
) -> None:
    suite(pytester, "Zeros", ZEROS)
    found = outcomes(run("--cachecheck-examples=3", "-v"))
    assert {found[law] for law in OFFERED} == {"FAILED"}
    assert {found[law] for law in LAWS if law not in OFFERED} == {"SKIPPED"}


def test_an_inconclusive_law_fails_with_its_reason_and_what_to_do(
    run: Run, pytester: pytest.Pytester
) -> None:
    suite(pytester, "Faint, laws=['sensitivity']")
    result = run("--cachecheck-examples=3")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "sensitivity is INCONCLUSIVE*: changing a cached token changes later rows*",
            "INCONCLUSIVE  sensitivity   tests.decoders_for_tests:Faint*",
            "  what                changing a cached token changes later rows*",
            "  what to do          *allow_inconclusive=True*--cachecheck-allow-inconclusive",
        ]
    )


@pytest.mark.parametrize(
    ("argument", "option"),
    [("allow_inconclusive=True", ""), ("", "--cachecheck-allow-inconclusive")],
)
def test_where_it_is_allowed_an_inconclusive_law_is_skipped_and_a_broken_one_fails(
    run: Run, pytester: pytest.Pytester, argument: str, option: str
) -> None:
    options = (*filter(None, [option]), "--cachecheck-examples=3", "-rs")
    suite(pytester, f"Faint, laws=['sensitivity'], {argument}")
    result = run(*options)
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED *INCONCLUSIVE: changing a cached token changes*"])
    suite(pytester, f"Unmoved, laws=['sensitivity'], {argument}")
    run(*options).assert_outcomes(failed=1)


# A law that nobody calls.


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("pass", "failed"),
        ("law", "failed"),
        ("law()", "passed"),
        ("law(); law()", "passed"),
        ("pytest.skip('not today')", "skipped"),
        ("pytest.xfail('not yet')", "xfailed"),
    ],
)
def test_a_test_that_ends_without_having_called_its_law_fails(
    run: Run, pytester: pytest.Pytester, body: str, outcome: str
) -> None:
    suite(pytester, "Sums, laws=['prefix']", "import pytest")
    file = pytester.path / "test_mine.py"
    file.write_text(file.read_text().replace("    law()", f"    {body}"))
    result = run("--cachecheck-examples=3")
    result.assert_outcomes(**{outcome: 1})
    said = "this test takes a law and never calls it, so that nothing was checked: call law()"
    assert (said in result.outlines) == (outcome == "failed")


def test_a_test_that_fails_before_it_calls_its_law_is_left_alone(
    run: Run, pytester: pytest.Pytester
) -> None:
    suite(pytester, "Sums, laws=['prefix']")
    file = pytester.path / "test_mine.py"
    file.write_text(file.read_text().replace("    law()", "    assert law is None, 'mine'"))
    result = run("--cachecheck-examples=3")
    result.assert_outcomes(failed=1)
    assert "AssertionError: mine" in result.stdout.str()
    assert "never calls it" not in result.stdout.str()


def test_a_law_may_be_called_by_a_fixture(run: Run, pytester: pytest.Pytester) -> None:
    fixture = "import pytest\n@pytest.fixture\ndef checked(law): law()\n"
    for decoder, outcome in (("Sums", "passed"), ("ForgetsOffset", "errors")):
        suite(pytester, f"{decoder}, laws=['schedule']", fixture)
        file = pytester.path / "test_mine.py"
        text = file.read_text().replace("    law()", "    pass")
        file.write_text(text.replace("test_mine(law)", "test_mine(law, checked)"))
        result = run("--cachecheck-examples=20", "--cachecheck-save=")
        result.assert_outcomes(**{outcome: 1})
    assert "VIOLATED  schedule   tests.decoders_for_tests:ForgetsOffset   seed 0" in result.outlines


# What other programs read.


def properties(file: Path) -> dict[str, dict[str, str]]:
    """From a JUnit file, the properties of each test by its name."""
    tree = ET.parse(file)  # noqa: S314 - our own file
    return {
        str(case.get("name")): {
            str(one.get("name")): str(one.get("value")) for one in case.iter("property")
        }
        for case in tree.iter("testcase")
    }


WORKERS = pytest.param(("-n", "1"), marks=pytest.mark.slow)


@pytest.mark.parametrize("workers", [(), WORKERS])
def test_junit_files_have_properties_and_the_block_of_a_failure(
    run: Run, pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    suite(pytester, "ForgetsOffset, laws=['schedule', 'prefix', 'crop']")
    run("--cachecheck-examples=20", "--junitxml=out.xml", *workers)
    (stored,) = (pytester.path / "evidence/regressions").iterdir()
    assert properties(pytester.path / "out.xml") == {
        "test_mine[schedule]": {
            "law": "schedule",
            "verdict": "VIOLATED",
            "schedule": "1+2",
            "tokens": "0 0 0",
            "decoder_seed": "0",
            "replay_file": str(stored),
        },
        "test_mine[prefix]": {"law": "prefix", "verdict": "HOLDS"},
        "test_mine[crop]": {"law": "crop", "verdict": "UNSUPPORTED"},
    }
    tree = ET.parse(pytester.path / "out.xml")  # noqa: S314 - our own file
    (failure,) = tree.iter("failure")
    assert str(failure.get("message")).startswith("Failed: schedule is VIOLATED at 1+2: decoding")
    assert "VIOLATED  schedule   tests.decoders_for_tests:ForgetsOffset" in str(failure.text)
    assert f"cachecheck replay evidence/regressions/{stored.name}" in str(failure.text)


def test_an_expected_failure_has_its_block_in_a_section_and_its_properties(
    run: Run, pytester: pytest.Pytester
) -> None:
    suite(pytester, "ForgetsOffset, laws=['schedule'], known_failures={'schedule': 'issue 12'}")
    pytester.makeconftest(
        "def pytest_runtest_logreport(report):\n"
        "    if report.when == 'call':\n"
        "        print('said', str(report.longrepr))\n"
        "        print('known', dict(report.user_properties)['verdict'])\n"
    )
    result = run("--cachecheck-examples=20", "-s")
    result.assert_outcomes(xfailed=1)
    result.stdout.fnmatch_lines(["*VIOLATED  schedule   tests.decoders_for_tests:*", "known VIOL*"])


# Known failures.


def test_a_known_failure_is_expected_with_its_reason_and_stored_nowhere(
    run: Run, pytester: pytest.Pytester
) -> None:
    suite(
        pytester,
        "ForgetsOffset, laws=['schedule', 'prefix'], known_failures={'schedule': 'issue 12'}",
    )
    result = run("--cachecheck-examples=20", "-v", "-rx")
    assert outcomes(result) == {"schedule": "XFAIL", "prefix": "PASSED"}
    result.stdout.fnmatch_lines(["XFAIL *issue 12 (VIOLATED: decoding in these chunks gives*)*"])
    assert result.ret == 0
    assert not (pytester.path / "evidence").exists()


def test_a_known_failure_may_be_an_error(run: Run, pytester: pytest.Pytester) -> None:
    suite(pytester, "RaisesOnThird, laws=['schedule'], known_failures={'schedule': 'issue 13'}")
    result = run("--cachecheck-examples=20", "-rx")
    result.assert_outcomes(xfailed=1)
    result.stdout.fnmatch_lines(["XFAIL *issue 13 (ERROR: *out of memory*"])


@pytest.mark.parametrize(
    ("law", "said"), [("schedule", "holds now"), ("crop", "is UNSUPPORTED here")]
)
def test_a_known_failure_that_holds_or_is_not_offered_fails_loudly(
    run: Run, pytester: pytest.Pytester, law: str, said: str
) -> None:
    suite(pytester, f"Sums, laws=[{law!r}], known_failures={{{law!r}: 'issue 12'}}")
    result = run("--cachecheck-examples=3")
    result.assert_outcomes(failed=1)
    line = f"known failure '{law}' (issue 12) {said}: take it out of known_failures"
    assert line in result.outlines


@pytest.mark.parametrize("allow", [(), ("--cachecheck-allow-inconclusive",)])
def test_a_known_failure_that_is_inconclusive_is_expected(
    run: Run, pytester: pytest.Pytester, allow: tuple[str, ...]
) -> None:
    """It does not hold: neither does the entry have to go, nor is the test green."""
    suite(pytester, "Faint, laws=['sensitivity'], known_failures={'sensitivity': 'issue 12'}")
    result = run("--cachecheck-examples=3", "-rx", *allow)
    result.assert_outcomes(xfailed=1)
    result.stdout.fnmatch_lines(["XFAIL *issue 12 (INCONCLUSIVE: changing a cached token *"])


# Wrong calls.

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "law": ({"laws": ["gravity"]}, r"^unknown law 'gravity'; known: causality, prefix,"),
    "known law": ({"known_failures": {"gravity": "why"}}, r"^unknown law 'gravity'; known: "),
    "known law not checked": (
        {"laws": ["schedule"], "known_failures": {"crop": "issue 12"}},
        r"^known failure 'crop' is not among the laws that are checked$",
    ),
    "no reason": ({"known_failures": {"crop": ""}}, r"^each known failure needs its reason"),
    "a blank reason": ({"known_failures": {"crop": " "}}, r"^each known failure needs its reason"),
    "no text": ({"known_failures": {"crop": 12}}, r"^each known failure needs its reason, as text"),
    "no shards": ({"shards": 0}, r"^shards must be an integer >= 1; got 0$"),
    "minus a shard": ({"shards": -1}, r"^shards must be an integer >= 1; got -1$"),
    "half a shard": ({"shards": 1.5}, r"^shards must be an integer >= 1; got 1.5$"),
    "a true shard": ({"shards": True}, r"^shards must be an integer >= 1; got True$"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_makes_no_sense_is_refused_where_it_is_written(name: str) -> None:
    options, said = REFUSED[name]
    with pytest.raises(InputError, match=said):
        parametrize_with_laws(Sums, **options)


def test_outside_pytest_a_law_says_what_to_use_in_its_place(tmp_path: Path) -> None:
    calls = (
        "import cachecheck\n"
        "from tests.decoders_for_tests import Sums\n"
        "cachecheck.parametrize_with_laws(Sums).args[1][0].values[0]()\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", calls],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1].endswith(
        "UsageError: a law is checked within a test that pytest runs; outside, use "
        "cachecheck.check_decoder or cachecheck fuzz"
    )


# Options.


def verdicts(folder: Path, law: str) -> list[Verdict]:
    """What the tests of a law left in the folder of the run."""
    return [result.verdict for result in RunFolder(folder).finished(law)]


@pytest.mark.parametrize(
    ("options", "examples", "header"),
    [
        ((), 50, "laws in tests, seed 0, 50 examples a law"),
        (("--cachecheck-effort=ci",), 200, "laws in tests, seed 0, 200 examples a law"),
        (("--cachecheck-effort=ci", "--cachecheck-examples=7"), 7, "seed 0, 7 examples a law"),
    ],
)
def test_effort_and_examples_take_effect(
    run: Run, pytester: pytest.Pytester, options: tuple[str, ...], examples: int, header: str
) -> None:
    suite(pytester, "Sums, laws=['prefix']")
    notes = pytester.mkdir("notes")
    result = run(*options, "--cachecheck-run-dir=notes")
    result.stdout.fnmatch_lines([f"cachecheck *{header}; numpy *"])
    assert [verdict.examples for verdict in verdicts(notes, "prefix")] == [examples]


def test_the_seed_takes_effect(run: Run, pytester: pytest.Pytester) -> None:
    suite(pytester, "Sums, laws=['schedule']")
    differences = []
    for number, seed in enumerate(("3", "3", "4")):
        notes = pytester.mkdir(f"notes{number}")
        run("--cachecheck-examples=5", f"--cachecheck-seed={seed}", f"--cachecheck-run-dir={notes}")
        (verdict,) = verdicts(notes, "schedule")
        differences.append((verdict.largest_difference, verdict.tolerance))
    assert differences[0] == differences[1] != differences[2]


# Stored failures.

RARE = """
class Rare(Sums):
    def extend(self, tokens, cache):
        rows, after = super().extend(tokens, cache)
        return rows + (cache[1] == 1 and len(tokens) == 2), after
"""


def test_a_stored_failure_is_tried_first_with_any_seed_and_effort(
    run: Run, pytester: pytest.Pytester
) -> None:
    """Stored below the root folder, wherever pytest is started; not found by one case alone."""
    suite(pytester, "Rare, laws=['schedule']", RARE)
    few = ("--cachecheck-examples=1", "--cachecheck-seed=5")
    run(*few).assert_outcomes(passed=1)
    run("--cachecheck-examples=300").assert_outcomes(failed=1)
    (stored,) = (pytester.path / "evidence/regressions").iterdir()
    again = run(*few)
    again.assert_outcomes(failed=1)
    again.stdout.fnmatch_lines(["  smallest schedule   1+2            3 tokens ?0, 0, 0?"])
    below = pytester.mkdir("below")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(below)
        elsewhere = run(*few, f"--rootdir={pytester.path}", str(pytester.path / "test_mine.py"))
        elsewhere.assert_outcomes(failed=1)
    assert stored.is_file()  # beside it may be the same case on the decoder of another seed
    assert list(below.iterdir()) == []


def test_an_empty_folder_name_stores_nothing_and_tries_nothing_stored(
    run: Run, pytester: pytest.Pytester
) -> None:
    suite(pytester, "Rare, laws=['schedule']", RARE)
    result = run("--cachecheck-examples=300", "--cachecheck-save=")
    result.assert_outcomes(failed=1)
    assert "cachecheck replay" not in result.stdout.str()
    assert not (pytester.path / "evidence").exists()
    run("--cachecheck-examples=300").assert_outcomes(failed=1)
    few = ("--cachecheck-examples=1", "--cachecheck-seed=5")
    run(*few, "--cachecheck-save=").assert_outcomes(passed=1)


# Workers.

RECORDS = """
import os

class Records(Sums):
    def full(self, tokens):
        test = os.environ["PYTEST_CURRENT_TEST"].partition("[")[2].partition("]")[0]
        with open(f"{test}.tokens", "a") as seen:
            print(*tokens, file=seen)
        return super().full(tokens)
"""

PROFILE = """
from hypothesis import HealthCheck, Phase, settings
from hypothesis.database import DirectoryBasedExampleDatabase

from cachecheck.strategies import cache_machine

settings.register_profile(
    "shared",
    max_examples=10,
    stateful_step_count=5,
    phases=(Phase.reuse, Phase.generate),
    deadline=None,
    database=DirectoryBasedExampleDatabase("examples"),
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("shared")
TestMachine = cache_machine(Listing).TestCase

class Wrong(Sums):
    def extend(self, tokens, cache):
        rows, after = super().extend(tokens, cache)
        return rows + 1, after

TestWrong = cache_machine(Wrong).TestCase
"""


@pytest.mark.slow
def test_shards_spread_over_workers_draw_different_cases_beside_other_tests_of_a_suite(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a profile and a database of examples that all workers share."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makeini("[pytest]\n")
    suite(pytester, "Records, laws=['schedule', 'crop'], shards=2", RECORDS + PROFILE)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *PLUGIN, "-n", "2", "-v", "--cachecheck-examples=20"],
        cwd=pytester.path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    lines = ran.stdout.splitlines()
    ended = {
        words[-1].split("::", 1)[1]: words[-2]
        for words in map(str.split, lines)
        if words and "test_mine.py::" in words[-1] and words[0].startswith("[gw")
    }
    assert ended == {
        "test_mine[schedule-0]": "PASSED",
        "test_mine[schedule-1]": "PASSED",
        "test_mine[crop-0]": "SKIPPED",
        "test_mine[crop-1]": "SKIPPED",
        "TestMachine::runTest": "PASSED",
        "TestWrong::runTest": "FAILED",
    }, ran.stdout
    assert "INTERNALERROR" not in ran.stdout
    assert list((pytester.path / "examples").rglob("*"))  # the wrong one's, for the next run
    first, second = (
        set((pytester.path / f"schedule-{shard}.tokens").read_text().splitlines())
        for shard in range(2)
    )
    common = {"0", "0 1", " ".join(str(at % 8) for at in range(16)), *looked_at()}  # no cases
    assert min(len(first - common), len(second - common)) >= 15
    assert len(first & second - common) <= 2  # short sequences may well come up twice


def looked_at() -> set[str]:
    """What every search asks a decoder for in its end, to see whether a mistake would show."""
    asked: set[str] = set()

    class Asked(Sums):
        def full(self, tokens: Any) -> Any:
            asked.add(" ".join(map(str, tokens)))
            return super().full(tokens)

    decoder = Guarded(Asked())
    idle_rows(decoder)
    for longest in range(16, 25):
        measure(decoder, longest)
    return asked
