"""Builds the site from the whole repository: a hook of mkdocs, which looks into ``docs/`` alone.

The README is the site's front page, and the evidence, the architecture and the changes are pages of
it too. All are written to be read in the repository, so their links lead from file to file there;
here each is turned into the link from page to page. A link to what is in the repository and not on
the site (a folder, a test) becomes its text; one that leads nowhere is left for ``--strict``.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]

BROUGHT = (
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "evidence/README.md",
    "evidence/zoo/*.md",
    "evidence/findings/*/*.md",
    "evidence/findings/*/*.py",
    "examples/**/*.*",
)
"""What is brought in from outside ``docs/``, as patterns from the repository's root."""

_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#:]+)(#[^)\s]*)?\)")


def on_files(files: Any, config: Any) -> Any:
    """Add the documents from outside ``docs/``, each under its path in the repository."""
    for pattern in BROUGHT:
        for path in sorted(ROOT.glob(pattern)):
            if path.is_file() and "__pycache__" not in path.parts:
                name = path.relative_to(ROOT).as_posix()
                files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Lead the links of one page to pages of the site."""
    del config
    source = Path(page.file.abs_src_path)
    there = {Path(file.abs_src_path): file.src_uri for file in files if file.abs_src_path}
    here = Path(page.file.src_uri).parent

    def led(match: re.Match[str]) -> str:
        mark, text, target, anchor = match[1], match[2], match[3], match[4] or ""
        path = Path(os.path.normpath(source.parent / target))
        if path in there:
            return f"{mark}[{text}]({os.path.relpath(there[path], here)}{anchor})"
        return text if path.exists() else match[0]

    return _LINK.sub(led, markdown)
