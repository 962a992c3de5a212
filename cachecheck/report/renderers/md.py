"""A run as Markdown: for a pull request, an issue, or the summary of a CI job."""

from __future__ import annotations

from collections.abc import Iterator

from cachecheck.report.failure import failure_block, number
from cachecheck.report.markdown import table
from cachecheck.report.summary import Summary
from cachecheck.report.terminal import conclusion_lines, margin_line, remark_line


def render(summary: Summary) -> str:
    """A title, the table of laws, a block for each failure, and what it amounts to."""
    return "\n\n".join(_parts(summary)) + "\n"


def _parts(summary: Summary) -> Iterator[str]:
    named = ", ".join(f"{name} {number}" for name, number in summary.versions.items())
    yield f"# cachecheck: `{summary.target}`"
    yield f"Seed {summary.seed}, {summary.amount}. {named}."
    yield conclusion_lines(summary).replace("\n", "  \n")
    if summary.table:
        head = ("law", "verdict", "examples", "largest difference", "tolerance")
        rows = (
            (
                f"`{one.law}`",
                one.answer.value,
                str(one.examples),
                number(one.largest_difference),
                number(one.tolerance),
            )
            for one in summary.table
        )
        yield table(head, rows)
    for verdict in summary.failures:
        block = failure_block(verdict, summary.target, summary.replays.get(verdict.law))
        yield f"```text\n{block}\n```"
    for remark in summary.remarks:
        yield f"- {remark_line(remark)}"
    if summary.not_offered:
        yield f"Not offered by this decoder: {', '.join(summary.not_offered)}."
    if summary.margin is not None:
        yield f"```text\n{margin_line(summary.margin)}\n```"
