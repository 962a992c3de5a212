"""The pytest face: options for laws in tests, and what pytest reports about them.

pytest loads this at every start once the package is installed. So it imports nothing heavy, and a
session that checks no decoder shows no sign of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Generator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

EFFORTS = {"quick": 50, "ci": 200, "deep": 5000}
"""Cases a law, by the name of the effort."""

LAW_WAS_CALLED = pytest.StashKey[bool]()
"""In a test's stash: whether the test has called its law."""

FINDING = pytest.StashKey[str]()
"""In a test's stash: what its law has found, as a block of text for the report."""

_running: list[pytest.Item] = []


class LawParameter:
    """The base of what a test takes as ``law``, for the plugin to know such tests by."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options for laws in tests, and those by which ``cachecheck fuzz`` talks to its suite."""
    group = parser.getgroup("cachecheck", "cachecheck: laws of KV caches, parametrize_with_laws")
    for name, about, settings in _OPTIONS:
        group.addoption(f"--cachecheck-{name}", help=about, **settings)
    for name, settings in _BETWEEN_THE_COMMAND_AND_ITS_SUITE:
        group.addoption(f"--cachecheck-{name}", help=argparse.SUPPRESS, **settings)


def _at_least(least: int) -> Callable[[str], int]:
    def integer(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"expected an integer >= {least}, got {text!r}")
        return int(text)

    return integer


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of seconds, got {text!r}")
    return value


_OPTIONS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    (
        "seed",
        "seed of cases and weights (default 0)",
        {"type": _at_least(0), "default": 0, "metavar": "N"},
    ),
    (
        "effort",
        "cases a law: quick 50 (the default), ci 200, deep 5000",
        {"choices": list(EFFORTS), "default": "quick"},
    ),
    ("examples", "cases a law, whatever the effort", {"type": _at_least(1), "metavar": "N"}),
    (
        "max-length",
        "longest sequence, in tokens (default 24, or what it takes to cross a window)",
        {"type": _at_least(2), "metavar": "N"},
    ),
    (
        "allow-inconclusive",
        "skip the test of a law that is INCONCLUSIVE; by default it fails",
        {"action": "store_true"},
    ),
    (
        "call-timeout",
        "a call of the decoder that takes longer is said to hang",
        {"type": _seconds, "metavar": "SECONDS"},
    ),
    (
        "save",
        "folder for failing cases, tried again first (default evidence/regressions; empty: none)",
        {"metavar": "DIR"},
    ),
)
"""Names, what the help says of them, and argparse's settings."""

_BETWEEN_THE_COMMAND_AND_ITS_SUITE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("target", {}),
    ("laws", {}),
    ("shards", {"type": _at_least(1), "default": 1}),
    ("until", {"type": float}),
    ("run-dir", {}),
)
"""Names of options that are no business of anybody else, and argparse's settings."""


def examples_of(config: pytest.Config) -> int:
    """Cases a law: a number if one was given, else what the effort stands for."""
    given: int | None = config.getoption("--cachecheck-examples")
    return EFFORTS[config.getoption("--cachecheck-effort")] if given is None else given


def save_folder(config: pytest.Config) -> Path | None:
    """The folder that failing cases go to and come from; None for nowhere."""
    given: str | None = config.getoption("--cachecheck-save")
    if given is None:
        return config.rootpath / "evidence" / "regressions"
    return Path(given) if given else None


def settings_line(config: pytest.Config) -> str:
    """The seed, the number and the versions that decide which cases are drawn."""
    versions = ", ".join(f"{name} {_version(name)}" for name in ("numpy", "hypothesis"))
    seed = config.getoption("--cachecheck-seed")
    return f"seed {seed}, {examples_of(config)} examples a law; {versions}"


def running_test() -> pytest.Item:
    """The test that is running.

    Raises:
        pytest.UsageError: none is.
    """
    if not _running:
        raise pytest.UsageError(
            "a law is checked within a test that pytest runs; outside, use "
            "cachecheck.check_decoder or cachecheck fuzz"
        )
    return _running[-1]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Remember the test that runs: a law is called without a request. pytest may run in pytest."""
    item.stash[LAW_WAS_CALLED] = False
    item.stash[FINDING] = ""
    _running.append(item)
    try:
        return (yield)
    finally:
        _running.pop()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that has a law and ends without having called it: it has checked nothing."""
    result = yield  # a test that is skipped, or fails, raises here and is left alone
    if _takes_a_law(item) and not item.stash.get(LAW_WAS_CALLED, False):
        pytest.fail(
            "this test takes a law and never calls it, so that nothing was checked: call law()",
            pytrace=False,
        )
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Give the report of a test whose law did not hold a section with what was found."""
    report = yield
    found = item.stash.get(FINDING, "")
    if found and call.excinfo is not None:
        add = getattr(report.longrepr, "addsection", None)
        if add is not None:  # part of the failure: in JUnit files as well, whatever is captured
            add("cachecheck", found)
        else:
            report.sections.append(("cachecheck", found))
    return report


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say what is under test, and with what, where the options name a target."""
    target = config.getoption("--cachecheck-target")
    return f"{_ourselves()}: {target}, {settings_line(config)}" if target else None


def pytest_report_collectionfinish(
    config: pytest.Config, items: Sequence[pytest.Item]
) -> str | None:
    """Say with what laws are checked, where some test takes one."""
    if config.getoption("--cachecheck-target") or not any(map(_takes_a_law, items)):
        return None
    return f"{_ourselves()}: laws in tests, {settings_line(config)}"


def _takes_a_law(item: pytest.Item) -> bool:
    callspec = getattr(item, "callspec", None)
    return any(isinstance(one, LawParameter) for one in getattr(callspec, "params", {}).values())


def _ourselves() -> str:
    return f"cachecheck {_version('kv-cachecheck')}"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # a checkout on the path, not installed
        return "(not installed)"
