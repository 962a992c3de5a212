"""Makes Markdown of the docstrings' code blocks: an extension of griffe, which reads them.

Hypothesis' own style, which the strategies follow, marks examples as reStructuredText does.
"""

from __future__ import annotations

import re
import textwrap
from typing import Any

import griffe

_BLOCK = re.compile(r"^\.\. code-block:: (\w+)\n\n((?:(?: {4}.*)?\n?)+)", re.MULTILINE)


class CodeBlocks(griffe.Extension):
    """Fences in place of ``.. code-block::``."""

    def on_object(self, *, obj: Any, **_others: Any) -> None:
        """Rewrite the docstring of whatever was loaded."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """``text`` with fences around its code blocks."""

    def block(match: re.Match[str]) -> str:
        return f"```{match[1]}\n{textwrap.dedent(match[2]).rstrip()}\n```\n\n"

    return _BLOCK.sub(block, text).rstrip()
