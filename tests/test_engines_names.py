"""Naming an engine: what is known, what is missing, and that neither loads torch.

Run alone: python -m pytest tests/test_engines_names.py
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from cachecheck.engines import transformers_factory
from cachecheck.errors import TargetError


@pytest.mark.extras
@pytest.mark.parametrize(
    ("name", "said"), [("lama", "llama"), ("llama/statik", "static"), ("llama/", "dynamic")]
)
def test_an_unknown_name_is_refused_with_near_ones(name: str, said: str) -> None:
    pytest.importorskip("transformers", reason="the library knows its names")
    with pytest.raises(TargetError) as caught:
        transformers_factory(name)
    message = str(caught.value)
    assert repr(name.rpartition("/")[2]) in message
    assert said in message
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


def test_importing_the_engines_loads_neither_library() -> None:
    program = (
        "import sys\n"
        "import cachecheck.engines.known_failures, cachecheck.zoo.matrix\n"
        "import cachecheck.commands.zoo\n"
        "print(sorted({'torch', 'transformers'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[]"


@pytest.mark.extras
def test_a_library_that_is_there_and_fails_to_import_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("transformers", reason="it must be there")
    monkeypatch.setitem(
        sys.modules, "cachecheck.engines.hugging_face.variants", None
    )  # as if its imports failed
    monkeypatch.delattr("cachecheck.engines.hugging_face.variants", raising=False)
    with pytest.raises(TargetError, match="installed and fails to import: ") as caught:
        transformers_factory("llama")
    assert "\n" not in str(caught.value)
