"""Each finding is a page, a plain reproduction, and where the zoo saw it an entry in the ledger.

Run alone: python -m pytest tests/test_findings.py
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from benchmarks.pages import findings as pages
from benchmarks.pages.measured import EVIDENCE
from cachecheck.engines.known_failures import load_ledger
from cachecheck.zoo.cells import NOT_BUILT

SLUGS = sorted(path.parent.name for path in pages.FOLDER.glob("*/finding.md"))
MATRIX = pages.zoo()
JUDGEMENTS = {"Engine bug": "bug", "Documented limit": "documented limit"}


def code_lines(source: str) -> int:
    """Lines of code, without comments, blank lines and the docstring."""
    tree = ast.parse(source)
    docstring = tree.body[0].end_lineno or 0
    lines = source.splitlines()[docstring:]
    return sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in lines)


@pytest.mark.parametrize("slug", SLUGS)
def test_a_finding_says_what_where_why_and_how_it_is_judged(slug: str) -> None:
    finding = pages.read(pages.FOLDER / slug / "finding.md")
    assert set(pages.PARTS) <= set(finding.parts)
    assert finding.judgement in (*JUDGEMENTS, "Misuse")
    assert re.search(r"(transformers|torch) \d+\.\d+", finding.library)


@pytest.mark.parametrize("slug", SLUGS)
def test_a_reproduction_is_short_and_plain(slug: str) -> None:
    source = (pages.FOLDER / slug / "reproduction.py").read_text(encoding="utf-8")
    assert code_lines(source) <= 20
    assert "cachecheck" not in source
    assert "sys.exit(" in source


@pytest.mark.extras
@pytest.mark.parametrize("slug", SLUGS)
def test_a_reproduction_shows_the_finding_in_the_release_it_names(slug: str) -> None:
    library, _, version = pages.read(pages.FOLDER / slug / "finding.md").library.partition(" ")
    pytest.importorskip(library, reason="the reproductions need torch and transformers")
    pytest.importorskip("transformers", reason="most reproductions need transformers")
    if metadata.version(library).partition("+")[0] != version.partition("+")[0]:
        pytest.skip(f"seen on {library} {version}")
    command = [sys.executable, str(pages.FOLDER / slug / "reproduction.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_every_violation_of_the_zoo_leads_to_a_finding() -> None:
    entries = {entry.id: entry for entry in load_ledger("transformers").entries}
    for cell in MATRIX.cells:
        if cell.answer == "VIOLATED":
            assert cell.known in entries, f"{cell.architecture}/{cell.variant} {cell.law}"
            assert entries[cell.known].finding in SLUGS


def test_every_error_of_the_zoo_is_in_the_ledger_and_no_entry_is_stale() -> None:
    assert [cell for cell in MATRIX.cells if cell.answer == "ERROR" and not cell.known] == []
    assert MATRIX.whole
    assert MATRIX.stale(load_ledger("transformers")) == []


def test_the_ledger_judges_as_the_findings_do() -> None:
    for entry in load_ledger("transformers").entries:
        if entry.finding:
            judged = pages.read(pages.FOLDER / entry.finding / "finding.md").judgement
            assert JUDGEMENTS[judged] == entry.judgement, entry.id


def test_the_zoo_covers_what_was_promised_in_the_time_promised() -> None:
    assert len(MATRIX.checked) >= 150
    assert MATRIX.seconds < 15 * 60
    for name in set(MATRIX.architectures) - set(MATRIX.built):
        reasons = {cell.reason for cell in MATRIX.cells if cell.architecture == name}
        assert all(reasons), name
    for cell in MATRIX.cells:
        if cell.answer in (NOT_BUILT, "UNSUPPORTED", "INCONCLUSIVE", "ERROR"):
            assert cell.reason, f"{cell.architecture}/{cell.variant} {cell.law}"
        if cell.answer == "VIOLATED":
            assert cell.schedule


def test_at_least_four_bugs_of_current_releases_are_shown() -> None:
    bugs = [one for one in pages.findings() if one.judgement == "Engine bug"]
    assert len(bugs) >= 4


def test_the_pages_of_the_zoo_are_made_from_its_file() -> None:
    from cachecheck.report.zoo import markdown

    page = Path(EVIDENCE / "zoo" / "transformers.md").read_text(encoding="utf-8")
    assert page == markdown(MATRIX, load_ledger("transformers").entries, "../findings"), (
        "run cachecheck zoo transformers --again --out evidence/zoo"
    )
