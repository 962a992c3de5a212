"""Naming an engine: what is known, what is missing, and that neither loads torch.

Run alone: python -m pytest tests/test_engines_names.py
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from cachecheck.engines import transformers_factory
from cachecheck.engines.tiny import TINY
from cachecheck.errors import TargetError


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(TargetError) as caught:
        transformers_factory("lama")
    message = str(caught.value)
    assert "'lama'" in message
    assert all(name in message for name in TINY)
    assert "\n" not in message


@pytest.mark.parametrize("lacking", ["torch", "transformers"])
def test_a_missing_library_is_named_with_its_installation(
    lacking: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, lacking, None)  # how Python marks a module as absent
    with pytest.raises(TargetError) as caught:
        transformers_factory("llama")
    message = str(caught.value)
    assert lacking in message
    assert lacking in message.partition("pip install ")[2]
    assert "\n" not in message


def test_naming_an_engine_loads_neither_library() -> None:
    program = (
        "import sys\n"
        "from cachecheck.engines import transformers_factory\n"
        "from cachecheck.errors import TargetError\n"
        "try:\n"
        "    transformers_factory('llama')\n"
        "except TargetError:\n"  # where they are not installed
        "    pass\n"
        "print(sorted({'torch', 'transformers'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[]"
