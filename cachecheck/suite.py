"""One pytest test a law: what ``cachecheck fuzz`` runs.

Not collected by itself; the command line names it, and the plugin has the options.
"""

from __future__ import annotations

import pytest

from cachecheck.runner import LawRunner

_RUNNER = pytest.StashKey[LawRunner]()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test a law that was asked for."""
    runner = metafunc.config.stash.setdefault(_RUNNER, LawRunner(metafunc.config))
    metafunc.parametrize("law", runner.laws)


def test_law(law: str, request: pytest.FixtureRequest) -> None:
    """The target keeps this law on every case drawn."""
    request.config.stash[_RUNNER].run(law).raise_for_pytest(request)
