"""Brings the generated parts of the documents up to date.

Run it with ``python -m benchmarks.pages.readme``. The documents are the README and all pages under
``docs/``. Tables come from the code and the evidence, listings from the files, outputs and pictures
from commands that are run. Tests hold the documents to the same parts: ``tests/test_readme.py`` and
``tests/test_docs.py``.
"""

from __future__ import annotations

import re

from benchmarks.pages import draws, findings, kills, peers, pictures
from benchmarks.pages.outputs import ROOT, output_of
from cachecheck.files import write_whole
from cachecheck.report.markdown import filled, tables

README = ROOT / "README.md"
PAGES = (README, *sorted((ROOT / "docs").rglob("*.md")))
"""Every document with generated parts."""

IMAGES = ROOT / "docs" / "images"

FILE = re.compile(r"(<!-- file: (\S+) -->\n```\w+\n).*?(```)", re.DOTALL)
OUTPUT = re.compile(r"(<!-- output: ([^>]+) -->\n```text\n).*?(```)", re.DOTALL)


def measured() -> dict[str, str]:
    """Each part that comes from the evidence, by the name of its place."""
    return {
        "kills": kills.summary(),
        "draws": draws.draws_table(),
        "peers headline": peers.headline(),
        "findings": findings.findings_table(at="../evidence/findings", bugs_only=True),
        "zoo": findings.zoo_summary(),
    }


def with_files(text: str) -> str:
    """``text`` with every listing as its file is now."""
    return FILE.sub(lambda match: match[1] + (ROOT / match[2]).read_text() + match[3], text)


def with_outputs(text: str) -> str:
    """``text`` with every command run again."""
    return OUTPUT.sub(lambda match: match[1] + output_of(match[2]) + match[3], text)


def main() -> None:
    """Write every page whose parts have changed, and the pictures."""
    parts = tables() | measured()
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        made = with_outputs(with_files(filled(text, parts)))
        if made != text:
            write_whole(page, made)
    for name, make in pictures.PICTURES.items():
        write_whole(IMAGES / name, make())


if __name__ == "__main__":
    main()
