"""One pytest test a law, or several with seeds of their own: what ``cachecheck fuzz`` runs.

Not collected by itself; the command line names it, and the plugin has the options.
"""

from __future__ import annotations

import pytest

from cachecheck.session.law_run import LawRunner, runner_of_options

_RUNNER = pytest.StashKey[LawRunner]()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test for each shard of each law that was asked for."""
    runner = metafunc.config.stash.setdefault(_RUNNER, runner_of_options(metafunc.config))
    shards = metafunc.config.getoption("--cachecheck-shards")
    params = [
        pytest.param(law, shard, id=law if shards == 1 else f"{law}-{shard}")
        for law in runner.laws
        for shard in range(shards)
    ]
    metafunc.parametrize(("law", "shard"), params)


def test_law(law: str, shard: int, request: pytest.FixtureRequest) -> None:
    """The target keeps this law on every case drawn."""
    outcome = request.config.stash[_RUNNER].run(law, shard)
    outcome.report_to(request.node)
    allowed = request.config.getoption("--cachecheck-allow-inconclusive")
    outcome.end(request.node, allow_inconclusive=allowed)
