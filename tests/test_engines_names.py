"""Naming a Hugging Face decoder: unknown names, and libraries that are missing or broken.

Run alone: python -m pytest tests/test_engines_names.py
"""

from __future__ import annotations

import sys

import pytest

from cachecheck.errors import TargetError
from cachecheck.target import load_target


@pytest.mark.extras
@pytest.mark.parametrize(
    ("name", "said"), [("lama", "llama"), ("llama/statik", "static"), ("llama/", "dynamic")]
)
def test_an_unknown_name_is_refused_with_near_ones(name: str, said: str) -> None:
    pytest.importorskip("transformers", reason="the library knows its names")
    with pytest.raises(TargetError) as caught:
        load_target(f"hf:{name}")
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
        load_target("hf:llama")
    message = str(caught.value)
    assert lacking in message
    assert lacking in message.partition("pip install ")[2]
    assert "\n" not in message


@pytest.mark.extras
def test_a_library_that_is_there_and_fails_to_import_is_named_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("transformers", reason="it must be there")
    monkeypatch.setitem(
        sys.modules, "cachecheck.engines.hugging_face.models", None
    )  # as if its imports failed
    monkeypatch.delattr("cachecheck.engines.hugging_face.models", raising=False)
    with pytest.raises(TargetError, match="installed here, and importing it fails: ") as caught:
        load_target("hf:llama")
    assert "\n" not in str(caught.value)
