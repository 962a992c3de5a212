"""Every accusation of the zoo, made again in plain transformers, and what holds as well.

python -m benchmarks.plainly goes through the cells of ``evidence/zoo/transformers.json``. What the
zoo accuses is tried with plain calls by ``plain.py``, in processes that never import cachecheck,
and must differ by more than the cell's tolerance; what holds is tried alike and must not. The
answers go to ``evidence/plainly.json``; the exit code is 1 if one is another than it should be.
Some minutes on 2 cores; needs the extra transformers, and quanto and hqq where the zoo had them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.plainly.answers import problems, summary
from benchmarks.plainly.plan import Job, described, jobs
from cachecheck.engines.known_failures import load_ledger
from cachecheck.files import write_whole
from cachecheck.zoo.matrix import read_matrix

ROOT = Path(__file__).parent.parent.parent
EVIDENCE = ROOT / "evidence"


def main() -> int:
    """Run what is asked for, write the file, say what is not as it should be; the exit code."""
    asked = _options()
    matrix = read_matrix(asked.zoo).marked(load_ledger("transformers"))
    chosen = [job for job in jobs(matrix) if not asked.only or job.architecture in asked.only]
    found = _answers(chosen, asked.processes)
    rows = [_row(job, answer) for job, answer in zip(chosen, found, strict=True)]
    rows += _others(asked.out, asked.only or ())
    rows.sort(
        key=lambda row: (not row["accused"], row["architecture"], row["variant"], row["check"])
    )
    write_whole(asked.out, _text(rows))
    lines = problems(rows)
    print("\n".join([*lines, summary(rows)]))
    return 1 if lines else 0


def _answers(chosen: Sequence[Job], processes: int) -> list[dict[str, Any]]:
    """What ``plain.py`` says to each job, in their order; each process has its architectures."""
    names = list(dict.fromkeys(job.architecture for job in chosen))
    shares = [set(names[at::processes]) for at in range(processes)]
    found: dict[int, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        started = [
            _start(Path(folder) / f"{at}", [job for job in chosen if job.architecture in share])
            for at, share in enumerate(shares)
        ]
        for share, (process, results) in zip(shares, started, strict=True):
            if process.wait():
                raise SystemExit(f"plain.py ended with exit code {process.returncode}")
            places = [at for at, job in enumerate(chosen) if job.architecture in share]
            answers = json.loads(results.read_text(encoding="utf-8"))
            found.update(zip(places, answers, strict=True))
    return [found[at] for at in range(len(chosen))]


def _start(at: Path, share: list[Job]) -> tuple[subprocess.Popen[bytes], Path]:
    asked, results = at.with_suffix(".jobs"), at.with_suffix(".results")
    asked.write_text(json.dumps([described(job) for job in share]), encoding="utf-8")
    command = [sys.executable, "-m", "benchmarks.plainly.plain", str(asked), str(results)]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, cwd=ROOT)
    return process, results


def _others(out: Path, only: Sequence[str]) -> list[dict[str, Any]]:
    """With ``--only``, the rows of the other architectures in the file."""
    if not only or not out.is_file():
        return []
    rows = json.loads(out.read_text(encoding="utf-8"))["rows"]
    return [row for row in rows if row["architecture"] not in only]


def _row(job: Job, answer: dict[str, Any]) -> dict[str, Any]:
    check = " ".join([job.check.name, *map(str, job.check.numbers)])
    row = {**job._asdict(), "check": check, "laws": list(job.laws), **answer}
    return {name: value for name, value in row.items() if value != ""}


def _text(rows: Sequence[dict[str, Any]]) -> str:
    """The file: a row a line."""
    head = json.dumps({name: version(name) for name in ("torch", "transformers")})
    return f'{{"versions": {head},\n"rows": [\n' + ",\n".join(map(json.dumps, rows)) + "\n]}\n"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    add = parser.add_argument
    said = "these architectures; the file keeps its rows of others"
    add("--only", type=lambda text: text.split(","), metavar="A,B", help=said)
    add("--zoo", type=Path, default=EVIDENCE / "zoo" / "transformers.json", metavar="FILE")
    add("--processes", type=int, default=2, metavar="N", help="at a time (default 2)")
    add("--out", type=Path, default=EVIDENCE / "plainly.json", metavar="FILE")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
