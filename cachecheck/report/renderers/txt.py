"""A run as plain text: what the terminal shows."""

from __future__ import annotations

import io

from rich.console import Console

from cachecheck.report.summary import Summary
from cachecheck.report.terminal import heading, print_report

_WIDTH = 100


def render(summary: Summary) -> str:
    """The heading and the report, without colours."""
    stream = io.StringIO()
    console = Console(file=stream, width=_WIDTH, color_system=None)
    print_report(console, summary)
    top = heading(summary.target, summary.seed, summary.amount, dict(summary.versions))
    body = "\n".join(line.rstrip() for line in stream.getvalue().splitlines())
    return f"{top}\n{body}\n"
