"""The long profile: 100,000 drawn examples of the chunk property on the right reference.

python -m benchmarks.false_alarms runs `tests/test_decoding.py::test_chunk_property` under the
profile ``long`` and writes what Hypothesis reports of it to ``evidence/false_alarms.json``.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from cachecheck.files import write_whole

ROOT = Path(__file__).parent.parent
OUT = ROOT / "evidence" / "false_alarms.json"
TEST = "tests/test_decoding.py::test_chunk_property"


def main() -> int:
    """Run the long profile with a seed of its own; 1 if there was an alarm."""
    seed = sys.argv[1] if len(sys.argv) > 1 else "20261130"
    options = ["--hypothesis-profile=long", f"--hypothesis-seed={seed}"]
    command = ["pytest", TEST, *options, "--hypothesis-show-statistics", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    print(done.stdout)
    counted = re.search(r"(\d+) passing, (\d+) failing, and (\d+) invalid", done.stdout)
    passing, failing, invalid = (int(group) for group in counted.groups()) if counted else (0, 0, 0)
    report = {
        "command": " ".join(command),
        "seed": int(seed),
        "passing": passing,
        "failing": failing,
        "invalid": invalid,
        "exit_code": done.returncode,
        # No alarm in n independent cases bounds the rate by 3/n at 95%.
        "false_alarm_rate_below_at_95_percent": None if failing or not passing else 3 / passing,
    }
    write_whole(OUT, json.dumps(report, indent=2) + "\n")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
