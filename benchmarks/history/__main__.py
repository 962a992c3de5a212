"""Old faults of released libraries, found again: wrong releases break a law, right ones hold.

python -m benchmarks.history makes an environment for every release of ``rows.toml`` (about a
minute for the first, half of that for each other, 4 GB in all), searches for a violation of the
row's law in each, and writes ``evidence/history.json``. With ``--only`` the other rows stay as they
are in the file. The exit code is 1 if a row shows something else than it should.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.history.environments import TORCH, Environments
from benchmarks.history.rows import ROWS
from benchmarks.history.searching import entry, problems, search
from benchmarks.history.table import table
from cachecheck.files import write_whole

OUT = Path(__file__).parent.parent.parent / "evidence" / "history.json"
CACHE = Path.home() / ".cache" / "cachecheck-history"


def main() -> int:
    """Run the rows asked for, write the file, print the table; the exit code."""
    asked = _options()
    environments = Environments(asked.environments)
    asked.environments.mkdir(parents=True, exist_ok=True)
    for name in asked.only:
        row, runs = ROWS[name], []
        for run in row.runs:
            runs.append(search(row, run, environments, asked.examples))
            print(f"{name} {run.side} {run.version}: {runs[-1]['verdict']}", file=sys.stderr)
        _write(asked.out, entry(row, asked.examples, runs))
    data = json.loads(asked.out.read_text(encoding="utf-8"))
    print(table(data))
    lines = problems(data)
    print("\n".join(lines), file=sys.stderr)
    return 1 if lines else 0


def _write(out: Path, new: dict[str, Any]) -> None:
    """Put one row in its place."""
    old = json.loads(out.read_text(encoding="utf-8"))["rows"] if out.is_file() else []
    rows = {one["id"]: one for one in [*old, new]}
    ordered = [rows[name] for name in ROWS if name in rows]
    data = {"torch": TORCH, "rows": ordered}
    write_whole(out, json.dumps(data, indent=2) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    add = parser.add_argument
    add("--only", type=_rows, default=list(ROWS), metavar="ROW,...", help="these rows only")
    add("--environments", type=Path, default=CACHE, metavar="DIR", help=f"default {CACHE}")
    add("--examples", type=int, default=200, help="cases of each search (default 200)")
    add("--out", type=Path, default=OUT)
    return parser.parse_args()


def _rows(text: str) -> Sequence[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in ROWS]
    if unknown:
        known = ", ".join(ROWS)
        raise argparse.ArgumentTypeError(f"no row {', '.join(unknown)}; known: {known}")
    return names


if __name__ == "__main__":
    raise SystemExit(main())
