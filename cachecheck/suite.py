"""One pytest test a law: what ``cachecheck fuzz`` runs.

Not collected by itself; the command line names it, and the plugin gives it its target.
"""

from __future__ import annotations

import pytest

from cachecheck.pytest_plugin import LawRun, LawRunner


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test a law that was asked for."""
    runner = metafunc.config.stash[LawRunner.KEY]
    metafunc.parametrize("law", runner.laws)


def test_law(law: str, request: pytest.FixtureRequest) -> None:
    """The target keeps this law on every case drawn."""
    run: LawRun = request.config.stash[LawRunner.KEY].run(law)
    run.raise_for_pytest(request)
