"""The pytest plugin: idle unless it is given a target, and content to be named twice."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import cachecheck.session.suite
from tests.test_cli_process import environment

pytest_plugins = ["pytester"]

SUITE = cachecheck.session.suite.__file__
PLUGIN = ("-p", "cachecheck.pytest_plugin")
TARGET = "tests.decoders_for_tests"

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester) -> Run:
    """Run pytest in this process, in an empty folder, with the plugin named."""
    pytester.makeini("[pytest]\naddopts = -p no:cacheprovider\n")

    def inner(*arguments: str) -> pytest.RunResult:
        return pytester.runpytest_inprocess(*PLUGIN, *arguments)

    return inner


def in_a_process(folder: Path, *arguments: str) -> str:
    """What pytest prints in ``folder``, without what changes from run to run."""
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stderr == ""
    lines = [line for line in ran.stdout.splitlines() if not line.startswith("plugins: ")]
    return re.sub(r" in \d+\.\d+s", "", "\n".join(lines))


def test_a_session_that_checks_no_decoder_shows_no_sign_of_it(tmp_path: Path) -> None:
    """Neither in what is printed, whatever becomes of the tests, nor in what is imported."""
    (tmp_path / "test_mine.py").write_text(
        "import sys, pytest\n"
        "def test_light():\n"
        "    heavy = {'hypothesis', 'numpy', 'rich', 'torch', 'msgspec', 'cachecheck.search'}\n"
        "    assert heavy & set(sys.modules) == set()\n"
        "@pytest.mark.parametrize('law', [1, 2])\n"
        "def test_of_another_law(law): pass\n"
        "def test_wrong(): assert False\n"
        "def test_left_out(): pytest.skip('not today')\n"
        "@pytest.mark.xfail\n"
        "def test_known(): assert False\n"
    )
    without = in_a_process(tmp_path, "-p", "no:cachecheck.pytest_plugin", "-rA")
    assert "3 passed, 1 failed" in without or "1 failed, 3 passed" in without
    assert "cachecheck" not in without
    assert in_a_process(tmp_path, *PLUGIN, "-rA") == without


def test_the_help_has_the_options_for_users_and_no_others(tmp_path: Path) -> None:
    shown = in_a_process(tmp_path, *PLUGIN, "--help")
    named = set(re.findall(r"^ *(--cachecheck-[a-z-]+)", shown, re.MULTILINE))
    assert named == {
        "--cachecheck-seed",
        "--cachecheck-effort",
        "--cachecheck-examples",
        "--cachecheck-max-length",
        "--cachecheck-allow-inconclusive",
        "--cachecheck-call-timeout",
        "--cachecheck-save",
    }
    assert "--cachecheck-target" not in shown
    assert "SUPPRESS" not in shown


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("seed=-1", "expected an integer >= 0, got '-1'"),
        ("examples=0", "expected an integer >= 1, got '0'"),
        ("examples=1.5", "expected an integer >= 1, got '1.5'"),
        ("max-length=1", "expected an integer >= 2, got '1'"),
        ("call-timeout=0", "expected a number of seconds, got '0'"),
        ("call-timeout=inf", "expected a number of seconds, got 'inf'"),
        ("call-timeout=soon", "expected a number of seconds, got 'soon'"),
    ],
)
def test_values_that_make_no_sense_are_refused_in_one_line(
    run: Run, option: str, said: str
) -> None:
    result = run(f"--cachecheck-{option}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    name = option.partition("=")[0]
    (line,) = [line for line in result.errlines if said in line]
    assert line.endswith(f"error: argument --cachecheck-{name}: {said}")


def test_a_target_stands_in_the_header(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_mine(): pass")
    result = run("--cachecheck-target", f"{TARGET}:Sums", "--cachecheck-seed", "7")
    result.stdout.fnmatch_lines(
        [f"cachecheck *: {TARGET}:Sums, seed 7, 50 examples a law; numpy *, hypothesis *"]
    )
    result.assert_outcomes(passed=1)  # the user's own test, and no law unless the suite is named


@pytest.mark.parametrize("where", ["command line", "conftest", "both"])
def test_it_may_be_named_twice(run: Run, pytester: pytest.Pytester, where: str) -> None:
    pytester.makepyfile("def test_mine(): pass")
    if where != "command line":
        pytester.makeconftest("pytest_plugins = ['cachecheck.pytest_plugin']")
    result = run(*(PLUGIN if where != "conftest" else ()), "--cachecheck-target", f"{TARGET}:Sums")
    result.assert_outcomes(passed=1)
    (line,) = [line for line in result.outlines if line.startswith("cachecheck")]
    assert f"{TARGET}:Sums, seed 0" in line


def test_each_law_is_a_test_that_passes_is_skipped_or_fails_with_its_block(
    run: Run, pytester: pytest.Pytester
) -> None:
    options = ("--cachecheck-examples", "10", "-rs", "--cachecheck-save=", "--cachecheck-target")
    run(SUITE, *options, f"{TARGET}:Sums").assert_outcomes(passed=8, skipped=9)
    faint = run(SUITE, *options, f"{TARGET}:Faint")
    faint.assert_outcomes(failed=8, skipped=9)  # no room for a mistake in most
    faint.stdout.fnmatch_lines(["sensitivity is INCONCLUSIVE*: changing a cached token changes *"])
    allowed = run(SUITE, "--cachecheck-allow-inconclusive", *options, f"{TARGET}:Faint")
    allowed.assert_outcomes(skipped=17)
    allowed.stdout.fnmatch_lines(
        ["SKIPPED * INCONCLUSIVE: changing a cached token changes later rows*"]
    )
    wrong = run(SUITE, *options, f"{TARGET}:ForgetsOffset", "-v")
    wrong.assert_outcomes(passed=5, failed=3, skipped=9)  # branch and programs follow schedule
    wrong.stdout.fnmatch_lines(
        [
            "*::test_law?schedule? FAILED*",
            f"VIOLATED  schedule   {TARGET}:ForgetsOffset   seed 0",
            "  smallest schedule   1+2            3 tokens ?0, 0, 0?",
        ]
    )
    assert "Traceback" not in wrong.stdout.str()
    assert {path.name for path in pytester.path.iterdir()} <= {"tox.ini", ".hypothesis"}


def test_laws_are_chosen_by_id_and_unknown_ones_refused(run: Run) -> None:
    target = ("--cachecheck-examples", "5", "--cachecheck-target", f"{TARGET}:Sums")
    chosen = run(SUITE, *target, "--cachecheck-laws", "schedule,prefix", "-v")
    chosen.assert_outcomes(passed=2)
    chosen.stdout.fnmatch_lines(["*::test_law?prefix? PASSED*", "*::test_law?schedule? PASSED*"])
    unknown = run(SUITE, *target, "--cachecheck-laws", "schedule,gravity")
    assert unknown.ret != 0
    assert (
        "unknown law 'gravity'; known: causality, prefix, determinism, schedule"
        in unknown.stdout.str()
    )


def test_a_stored_case_is_named_in_the_failure(run: Run, pytester: pytest.Pytester) -> None:
    result = run(
        *(SUITE, "--cachecheck-target", f"{TARGET}:ForgetsOffset", "--cachecheck-examples", "10"),
        *("--cachecheck-laws", "schedule", "--cachecheck-save", "cases"),
    )
    (path,) = (pytester.path / "cases").iterdir()
    result.stdout.fnmatch_lines([f"  replay              cachecheck replay cases/{path.name}"])


def test_stored_cases_are_tried_first_by_default(run: Run, pytester: pytest.Pytester) -> None:
    options = (
        *(SUITE, f"--rootdir={pytester.path}", "--cachecheck-laws=schedule"),
        *("--cachecheck-target", f"{TARGET}:ForgetsOffset"),
    )
    run(*options).assert_outcomes(failed=1)
    assert len(list((pytester.path / "evidence" / "regressions").iterdir())) == 1
    again = run(*options, "--cachecheck-examples=1", "--cachecheck-seed=5")
    again.assert_outcomes(failed=1)  # the one case drawn would not do: 1 token
    again.stdout.fnmatch_lines(["  smallest schedule   1+2            3 tokens ?0, 0, 0?"])
