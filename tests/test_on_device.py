"""The script for a machine with an accelerator runs anywhere, and writes what it reached.

Run alone: python -m pytest -m extras tests/test_on_device.py
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="kernels are torch's")
pytest.importorskip("transformers", reason="architectures are transformers'")

from benchmarks import on_device

pytestmark = pytest.mark.extras


def test_kernels_are_checked_and_what_time_did_not_allow_is_counted(tmp_path: Path) -> None:
    on_device.main(["--examples", "2", "--seconds", "2", "--out", str(tmp_path)])
    (file,) = tmp_path.glob("*.json")
    data = json.loads(file.read_text())
    assert data["not_reached"] > 0
    every = len(on_device.DTYPES) * (len(on_device.KERNELS) + len(on_device.ARCHITECTURES))
    assert data["not_reached"] + len(data["results"]) == every
    answers = {one["verdict"] for result in data["results"] for one in result["verdicts"]}
    assert answers
    assert "VIOLATED" not in answers
