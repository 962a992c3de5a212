"""Settings of the project's own tests: the plugin, numpy's strict mode, Hypothesis profiles.

Profiles: ``quick`` (the default, the same cases every time) and ``long`` (100,000 examples a
property, cases differ from run to run): pytest --hypothesis-profile=long -k chunk_property
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["cachecheck.pytest_plugin"]  # so that a checkout works without an installation

settings.register_profile(
    "quick",
    max_examples=50,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "long",
    max_examples=100_000,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("quick")


def pytest_configure(config: pytest.Config) -> None:
    del config
    np.seterr(invalid="raise", over="raise", divide="raise")
