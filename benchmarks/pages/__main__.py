"""Rewrites every page that is made from measurements: python -m benchmarks.pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.pages import catalogue, designs, engines, evidence, figures, look_alikes
from benchmarks.pages.measured import ROOT
from cachecheck.files import write_whole

PAGES: Mapping[str, Callable[[], str]] = {
    "evidence/README.md": evidence.page,
    "docs/catalogue-measured.md": catalogue.page,
    "docs/look-alikes.md": look_alikes.page,
    "docs/test-designs.md": designs.page,
    "docs/engines-measured.md": engines.page,
    "docs/further-figures.md": figures.page,
}
"""The function that makes each page, by the path of the page in the project."""


def main(root: Path = ROOT) -> None:
    """Write every page."""
    for path, page in PAGES.items():
        write_whole(root / path, page())


if __name__ == "__main__":
    main()
