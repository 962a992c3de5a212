"""Hugging Face's Llama and GPT-2 as they are, and with a wrong mask patched in from outside.

python -m benchmarks.hugging_face runs ``cachecheck fuzz`` on the four targets and writes verdicts,
smallest schedules and exit codes to ``evidence/hugging_face.json``. Needs the extra transformers.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

from cachecheck.files import write_whole

ROOT = Path(__file__).parent.parent
OUT = ROOT / "evidence" / "hugging_face.json"
TARGETS = (
    "hf:llama",
    "hf:gpt2",
    "examples/hf_wrong_mask.py:llama",
    "examples/hf_wrong_mask.py:gpt2",
)


def fuzz(target: str) -> dict[str, Any]:
    """One run of the command line, with its report as data."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        options = ["--json", str(report), "--save", folder]
        done = subprocess.run(
            [sys.executable, "-m", "cachecheck", "fuzz", target, *options], cwd=ROOT, check=False
        )
        return {"exit_code": done.returncode, **json.loads(report.read_text())}


def main() -> None:
    """Run all four, write the file."""
    versions = {name: version(name) for name in ("torch", "transformers", "numpy", "hypothesis")}
    runs = [fuzz(target) for target in TARGETS]
    write_whole(OUT, json.dumps({"versions": versions, "runs": runs}, indent=2) + "\n")


if __name__ == "__main__":
    main()
