"""The pytest face: options that name a target, and one test a law.

pytest loads this at every start once the package is installed, so it imports nothing heavy and
does nothing unless ``--cachecheck-target`` is given.
"""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options that ``cachecheck fuzz`` hands on."""
    group = parser.getgroup("cachecheck", "check a decoder's KV cache")
    group.addoption("--cachecheck-target", metavar="TARGET", help="decoder to check")
    group.addoption("--cachecheck-laws", metavar="IDS", help="laws to check, joined by commas")
    group.addoption("--cachecheck-seed", type=int, default=0, help="seed of cases and weights")
    group.addoption("--cachecheck-examples", type=int, default=200, help="cases a law")
    group.addoption("--cachecheck-max-length", type=int, default=None, help="longest sequence")
    group.addoption("--cachecheck-save", metavar="DIR", help="folder for failing cases")
    group.addoption("--cachecheck-run-dir", metavar="DIR", help="folder for progress and verdicts")


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say what is under test."""
    target = config.getoption("--cachecheck-target")
    seed = config.getoption("--cachecheck-seed")
    return f"cachecheck: {target}, seed {seed}" if target else None
