"""The findings in current releases as tables, from ``evidence/findings`` and the zoo's matrix."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.pages.measured import EVIDENCE
from cachecheck.engines.known_failures import load_ledger
from cachecheck.report.markdown import table
from cachecheck.report.zoo import summary
from cachecheck.zoo.matrix import Matrix, read_matrix

FOLDER = EVIDENCE / "findings"
PARTS = ("What", "Smallest case", "Suspected cause", "Judgement", "Seen on")


class Finding(NamedTuple):
    """One page of ``evidence/findings``.

    Attributes:
        slug: its folder.
        title: in one line.
        parts: by the words in bold that begin them.
    """

    slug: str
    title: str
    parts: dict[str, str]

    @property
    def judgement(self) -> str:
        """The first two words, or ``Misuse``."""
        found = re.match(r"Engine bug|Documented limit|Misuse", self.parts["Judgement"])
        return found[0] if found else ""

    @property
    def library(self) -> str:
        """The library concerned, with the release that it was seen in."""
        return re.split(r"[,;]| on ", self.parts["Seen on"])[0].strip().rstrip(".")


def findings() -> Iterator[Finding]:
    """Every page, bugs first."""
    pages = sorted(FOLDER.glob("*/finding.md"))
    found = [read(path) for path in pages]
    yield from sorted(found, key=lambda one: (one.judgement != "Engine bug", one.slug))


def read(path: Path) -> Finding:
    """The page at ``path``."""
    text = path.read_text(encoding="utf-8")
    title = text.splitlines()[0].removeprefix("# ")
    parts = dict(
        re.findall(
            r"^\*\*([A-Z][a-z ]+)\.?\*\* (.*?)(?=\n\n\*\*|\Z)", text, re.MULTILINE | re.DOTALL
        )
    )
    return Finding(
        path.parent.name, title, {name: " ".join(v.split()) for name, v in parts.items()}
    )


def findings_table(*, at: str = "findings", bugs_only: bool = False) -> str:
    """A line for each, linked from a page beside or above the folder ``at``."""
    rows = [
        [f"[{one.title}]({at}/{one.slug}/finding.md)", one.judgement.lower(), one.library]
        for one in findings()
        if not bugs_only or one.judgement == "Engine bug"
    ]
    return table(["finding", "judgement", "seen on"], rows)


def readme_table() -> str:
    """The bugs, as the README shows them."""
    return findings_table(at="evidence/findings", bugs_only=True)


def zoo() -> Matrix:
    """The matrix under ``evidence/zoo``, with what the ledger says."""
    return read_matrix(EVIDENCE / "zoo" / "transformers.json").marked(load_ledger("transformers"))


def zoo_summary() -> str:
    """One sentence of figures, as the command printed them."""
    found = zoo()
    return f"transformers {found.versions['transformers']}: {summary(found)}"
