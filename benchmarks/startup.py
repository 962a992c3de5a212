"""Seconds until the help is there, beside Python alone: python -m benchmarks.startup.

Writes ``evidence/startup.json``: best and median of 20 runs each, in turn. Times are of one machine
and its load; the claim is that the help stays under 0.3 s and imports nothing heavy.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

from cachecheck.files import write_whole

RUNS = 20
OUT = Path(__file__).parent.parent / "evidence" / "startup.json"
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "cachecheck --help": ["-m", "cachecheck", "--help"],
    "cachecheck fuzz --help": ["-m", "cachecheck", "fuzz", "--help"],
}


def main() -> None:
    """Time the commands in turn, write the file."""
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(RUNS):
        for name, arguments in COMMANDS.items():
            started = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
            seconds[name].append(time.perf_counter() - started)
    report = {
        name: {"best": round(min(all_), 3), "median": round(statistics.median(all_), 3)}
        for name, all_ in seconds.items()
    }
    print(json.dumps(report, indent=2))
    write_whole(OUT, json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
