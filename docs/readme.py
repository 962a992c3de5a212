"""Brings the README's generated parts up to date: python docs/readme.py.

Tables come from the code, listings from the files, outputs from running the commands in an empty
folder beside a copy of the examples. ``tests/test_readme.py`` holds the README to the same parts.
"""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from cachecheck.files import write_whole
from cachecheck.report.markdown import with_tables

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
FILE = re.compile(r"(<!-- file: (\S+) -->\n```python\n).*?(```)", re.DOTALL)
OUTPUT = re.compile(r"(<!-- output: ([^>]+) -->\n```text\n).*?(```)", re.DOTALL)


def with_measured(text: str) -> str:
    """``text`` with the tables that come from the evidence."""
    measured = {
        "peers": ("peers.py", "peers_table"),
        "peers headline": ("peers.py", "headline"),
        "kills": ("kills.py", "summary"),
        "findings": ("findings.py", "readme_table"),
        "zoo": ("findings.py", "zoo_summary"),
    }
    for name, (module, function) in measured.items():
        made = runpy.run_path(str(ROOT / "benchmarks" / "pages" / module))[function]()
        begin, end = f"<!-- {name}: generated -->\n", "\n<!-- end -->"
        before, after = text.split(begin)
        text = before + begin + made + end + after.split(end, 1)[1]
    return text


def with_files(text: str) -> str:
    """``text`` with every listing as its file is now."""
    return FILE.sub(lambda match: match[1] + (ROOT / match[2]).read_text() + match[3], text)


def with_outputs(text: str) -> str:
    """``text`` with every command run again."""
    return OUTPUT.sub(lambda match: match[1] + output_of(match[2]) + match[3], text)


def output_of(command: str, *options: str) -> str:
    """What a command of the README prints, with further options if any."""
    program, *arguments = [*command.split(), *options]
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder) / "examples")
        shutil.copy(ROOT / "conftest.py", folder)
        done = subprocess.run(
            [sys.executable, "-m", program, *arguments],
            cwd=folder,
            env={"PYTHONPATH": str(ROOT), "PATH": "", "COLUMNS": "100"},
            capture_output=True,
            text=True,
            check=False,
        )
    if program == "pytest":
        return excerpt(done.stdout)
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()) + "\n"


def excerpt(report: str) -> str:
    """The lines of a pytest report that say what failed and on which case."""
    wanted = re.compile(
        r">       assert|^E       assert|Failing test case|^E +problem=|\d+ failed, \d+ passed"
    )
    return "".join(line.strip("= ") + "\n" for line in report.splitlines() if wanted.search(line))


if __name__ == "__main__":
    page = with_measured(with_tables(README.read_text(encoding="utf-8")))
    write_whole(README, with_outputs(with_files(page)))
