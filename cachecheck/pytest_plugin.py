"""The pytest face: options for laws under pytest, and a line in the header.

pytest loads this at every start once the package is installed, so it imports nothing heavy.
"""

from __future__ import annotations

import argparse
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

EFFORTS = {"quick": 50, "ci": 200, "deep": 5000}
"""Cases a law, by the name of the effort."""

_current: list[pytest.Config] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options that ``cachecheck fuzz`` hands on, and those for laws in a user's own suite."""
    group = parser.getgroup("cachecheck", "check a decoder's KV cache")
    add = group.addoption
    add("--cachecheck-target", metavar="TARGET", help="decoder to check (for cachecheck fuzz)")
    add("--cachecheck-laws", metavar="IDS", help="laws to check, joined by commas")
    add("--cachecheck-seed", type=int, default=0, help="seed of cases and weights (default 0)")
    add(
        "--cachecheck-effort",
        choices=list(EFFORTS),
        default="quick",
        help="cases a law: quick 50 (the default), ci 200, deep 5000",
    )
    add(
        "--cachecheck-examples",
        type=_positive,
        default=None,
        help="cases a law, whatever the effort",
    )
    add("--cachecheck-max-length", type=int, default=None, help="longest sequence")
    add(
        "--cachecheck-shards",
        type=_positive,
        default=1,
        help="tests a law, with seeds of their own",
    )
    add("--cachecheck-until", type=float, default=None, help="clock time to go on until")
    add("--cachecheck-call-timeout", type=float, default=None, help="seconds a call may take")
    add(
        "--cachecheck-save",
        metavar="DIR",
        default=None,
        help="folder for failing cases, tried again first (default evidence/regressions below "
        "the root folder; an empty name: none)",
    )
    add("--cachecheck-run-dir", metavar="DIR", help="folder for progress and verdicts")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected an integer >= 1, got {text!r}")
    return int(text)


def pytest_configure(config: pytest.Config) -> None:
    """Remember the configuration: a law in a user's suite is called without a request."""
    _current.append(config)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Forget it; pytest may run inside pytest."""
    if config in _current:
        _current.remove(config)


def current_config() -> pytest.Config:
    """The configuration of the pytest that is running.

    Raises:
        pytest.UsageError: none is.
    """
    if not _current:
        raise pytest.UsageError("a law is checked within pytest; outside, use cachecheck fuzz")
    return _current[-1]


def examples_of(config: pytest.Config) -> int:
    """Cases a law: a number if one was given, else what the effort stands for."""
    given: int | None = config.getoption("--cachecheck-examples")
    return EFFORTS[config.getoption("--cachecheck-effort")] if given is None else given


def save_folder(config: pytest.Config) -> Path | None:
    """Where failing cases go, and come from; None for nowhere."""
    given: str | None = config.getoption("--cachecheck-save")
    if given is None:
        return config.rootpath / "evidence" / "regressions"
    return Path(given) if given else None


def pytest_report_header(config: pytest.Config) -> str:
    """Say what is under test, and with what."""
    target = config.getoption("--cachecheck-target") or "laws in tests"
    seed = config.getoption("--cachecheck-seed")
    versions = ", ".join(f"{name} {_version(name)}" for name in ("numpy", "hypothesis"))
    return (
        f"cachecheck {_version('kv-cachecheck')}: {target}, seed {seed}, "
        f"{examples_of(config)} examples a law; {versions}"
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # a checkout on the path, not installed
        return "(not installed)"
