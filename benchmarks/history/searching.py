"""Runs of ``cachecheck fuzz`` in the environments, and what they must have given."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.history.environments import ROOT, Environments, surroundings
from benchmarks.history.rows import ROWS, Row, Run

_ADAPTERS = "benchmarks.history.adapters"
_LONGEST = 900  # seconds of one search
_NOT_RUN = "NOT RUN"

_KEPT = (
    "verdict",
    "examples",
    "seconds",
    "schedule",
    "tokens",
    "first_wrong_position",
    "largest_difference",
    "tolerance",
    "message",
)
"""Fields of a verdict that the evidence keeps; margins and coverage would be the largest."""


def search(row: Row, run: Run, environments: Environments, examples: int) -> dict[str, Any]:
    """One search, as it goes into the evidence; what could not be run says why.

    ``seconds`` is the search with its shrinking, ``process_seconds`` the whole command, of which
    importing torch and a library is the larger part.
    """
    target = f"{_ADAPTERS}.{run.target}"
    done: dict[str, Any] = {"side": run.side, "version": run.version, "target": target}
    try:
        python = environments.python(row.package, run.version)
        began = time.perf_counter()
        report = _fuzz(python, target, row.law, examples)
        done["process_seconds"] = round(time.perf_counter() - began, 1)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return {**done, "verdict": _NOT_RUN, "message": str(error).splitlines()[0]}
    (verdict,) = report["verdicts"]
    return {**done, "versions": report["versions"], **{name: verdict[name] for name in _KEPT}}


def _fuzz(python: Path, target: str, law: str, examples: int) -> Any:
    """The command line in another environment; its report as data.

    Raises:
        RuntimeError: it ended without one.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        options = ["--law", law, "--examples", str(examples), "--json", str(report)]
        done = subprocess.run(
            [python, "-m", "cachecheck", "fuzz", target, *options, "--save", folder],
            cwd=ROOT,
            env=surroundings(),
            timeout=_LONGEST,
            check=False,
            capture_output=True,
            text=True,
        )
        if not report.is_file():
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise RuntimeError(f"cachecheck fuzz ended with {done.returncode}: {last}")
        return json.loads(report.read_text(encoding="utf-8"))


def entry(row: Row, asked: int, runs: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """A row of the evidence; ``asked`` is how many cases a search had."""
    said = {name: getattr(row, name) for name in ("id", "fault", "what", "report", "package")}
    return {**said, "law": row.law, "examples": asked, "runs": list(runs)}


def problems(data: Mapping[str, Any]) -> list[str]:
    """A line for each thing that the evidence should show and does not; empty if all was found."""
    there = {one.get("id"): one for one in data.get("rows", [])}
    known = [f"{name}: not in rows.toml" for name in there if name not in ROWS]
    missing = [f"{name}: not in the evidence" for name in ROWS if name not in there]
    broken = [line for name, one in there.items() if name in ROWS for line in _broken(one)]
    return known + missing + broken


def _broken(entry: Mapping[str, Any]) -> list[str]:
    row = ROWS[entry["id"]]
    found = {(one.get("side"), one.get("version")): one for one in entry.get("runs", [])}
    lines = [_wrong_with(row, run, found.get((run.side, run.version), {})) for run in row.runs]
    if row.right_target is None and set(row.wrong) & set(row.right):
        lines.append("the same release on both sides")
    if entry.get("law") != row.law:
        lines.append(f"law {entry.get('law')}; expected {row.law}")
    return [f"{row.id}: {line}" for line in lines if line]


def _wrong_with(row: Row, run: Run, found: Mapping[str, Any]) -> str:
    """The reason why a run does not show what it should; empty if it does."""
    where = f"{run.side} release {run.version}"
    lacking = [name for name in ("target", "process_seconds", *_KEPT) if name not in found]
    expected = row.answer if run.side == "wrong" else "HOLDS"
    if found.get("verdict") != expected:
        return f"{where}: {found.get('verdict', _NOT_RUN)}; expected {expected}"
    if lacking:
        return f"{where}: no {', '.join(lacking)}"
    if found["target"] != f"{_ADAPTERS}.{run.target}":
        return f"{where}: target {found['target']}"
    if run.side == "wrong" and not found["schedule"]:
        return f"{where}: no schedule"
    return ""
