"""The measured files, as the pages read them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.tables import read_report

ROOT = Path(__file__).parent.parent.parent
EVIDENCE = ROOT / "evidence"
GENERATED = "<!-- Made by python -m benchmarks.pages from the files in evidence/. -->"
"""Stands below the title of a page of measurements."""


def load(name: str) -> Any:
    """A file of `evidence` without tables in it."""
    return json.loads((EVIDENCE / name).read_text(encoding="utf-8"))


def tables(name: str) -> Any:
    """A file of `evidence` that `benchmarks.tables.write_report` wrote."""
    return read_report(EVIDENCE / name)


def share(count: int, of: int, digits: int = 1) -> str:
    """``107 of 132 (81.1%)``: the percentage is that of the counts beside it."""
    return f"{count:,} of {of:,} ({count / of:.{digits}%})"
