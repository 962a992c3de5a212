"""A run on the terminal: a row a law, a block for each failure, and what it amounts to."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cachecheck.report.failure import failure_block, number
from cachecheck.report.summary import Consequence, Remark, Summary
from cachecheck.verdict import Answer, Margin, Verdict
from cachecheck.verdict.sentences import MISTAKES, sentence

STYLES = {
    Answer.HOLDS: "green",
    Answer.VIOLATED: "bold red",
    Answer.INCONCLUSIVE: "yellow",
    Answer.UNSUPPORTED: "dim",
    Answer.ERROR: "bold magenta",
}


def print_report(console: Console, summary: Summary) -> None:
    """The table, a block for each failure, other remarks, and what it amounts to."""
    if summary.table:
        console.print(law_table(summary.table))
    for verdict in summary.failures:
        console.print()
        replay = summary.replays.get(verdict.law)
        print_plain(console, failure_block(verdict, summary.target, replay))
    for remark in summary.remarks:
        console.print()
        print_plain(console, remark_line(remark))
    if summary.not_offered:
        console.print()
        named = ", ".join(summary.not_offered)
        print_plain(console, f"UNSUPPORTED  {named}   not offered by this decoder")
    if summary.margin is not None:
        console.print()
        print_plain(console, margin_line(summary.margin))
    console.print()
    print_plain(console, conclusion_lines(summary))


def heading(target: str, seed: int, amount: str, versions: dict[str, str]) -> str:
    """The decoder under test, and the versions: enough to repeat the run."""
    named = ", ".join(f"{name} {number}" for name, number in versions.items())
    return f"{target}   seed {seed}, {amount}\n{named}\n"


def law_table(verdicts: Sequence[Verdict]) -> Table:
    """A row a law: verdict, examples, largest difference, tolerance, seconds."""
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column("law")
    table.add_column("verdict")
    for column in ("examples", "largest difference", "tolerance", "seconds"):
        table.add_column(column, justify="right")
    for verdict in verdicts:
        table.add_row(
            verdict.law,
            Text(verdict.answer.value, STYLES[verdict.answer]),
            str(verdict.examples),
            number(verdict.largest_difference),
            number(verdict.tolerance),
            f"{verdict.seconds:.1f}",
        )
    return table


def remark_line(remark: Remark) -> str:
    """One thing that some laws say alike, in a line."""
    laws = f"{', '.join(remark.laws)}   " if remark.laws else ""
    said = [] if remark.violation is None else [remark.violation.message]
    return f"{remark.answer.value}  {laws}{'; '.join([*said, *map(sentence, remark.reasons)])}"


def margin_line(margin: Margin) -> str:
    """The room that a run had between rounding and the mildest mistake."""
    signal = margin.signal or 0.0
    sign = "<" if signal > margin.tolerance else ">"
    return (
        f"margin  rounding {margin.noise:.1e} < tolerance {margin.tolerance:.1e} {sign} mildest "
        f"mistake {signal:.1e} of an entry's size\n        ({MISTAKES[margin.probe]}, in "
        f"sequences of {margin.length} tokens)"
    )


def conclusion_lines(summary: Summary) -> str:
    """The result of all verdicts, with a number for how sure that is."""
    answers, checked = summary.answers, summary.checked
    parts = [
        f"{len(answers[answer])} of {checked} laws {said}: {', '.join(answers[answer])}"
        for answer, said in (
            (Answer.VIOLATED, "violated"),
            (Answer.ERROR, "could not be checked"),
        )
        if answers[answer]
    ]
    if parts:
        return "\n".join(["; ".join(parts), *_consequences(summary)])
    if answers[Answer.INCONCLUSIVE]:
        unsure = ", ".join(answers[Answer.INCONCLUSIVE])
        return f"no law is broken, but nothing can be concluded from {unsure}"
    if summary.rate is None:
        return "nothing could be checked"
    held = len(answers[Answer.HOLDS])
    return (
        f"{held} of {checked} laws hold. A fault that shows in {summary.rate:.1%} of such cases "
        "or more would have been\nfound with a probability of 95% or more, law by law."
    )


def _consequences(summary: Summary) -> list[str]:
    """The broken law to look at first, and those that cannot hold while it is broken."""
    if not summary.follow:
        return []
    first = " and ".join(summary.begin_with)
    mended = "it does" if len(summary.begin_with) == 1 else "they do"
    return [
        f"Begin with {first}. These laws cannot hold until {mended}:",
        *map(_consequence, summary.follow),
    ]


def _consequence(one: Consequence) -> str:
    held = " (its own cases did not meet what is broken)" if one.held else ""
    return f"  {one.law:<13} implies {one.weaker}: {one.reason}{held}"


def print_plain(console: Console, text: str) -> None:
    """Print ``text`` as it is: no markup, no ``:100:`` turned into a picture, no lines cut."""
    console.print(Text(text), soft_wrap=True)
