"""Verdicts for people: a row a law, and a block for each failure."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cachecheck import __version__
from cachecheck.verdict import Answer, Verdict

STYLES = {
    Answer.HOLDS: "green",
    Answer.VIOLATED: "bold red",
    Answer.INCONCLUSIVE: "yellow",
    Answer.UNSUPPORTED: "dim",
    Answer.ERROR: "bold magenta",
}

_TOKENS_SHOWN = 16


def number(value: float | None) -> str:
    """A difference or tolerance as the tables show it: ``5.9e-01``, ``0`` when exactly zero."""
    if value is None:
        return "-"
    return "0" if value == 0 else f"{value:.1e}"


def law_table(verdicts: Sequence[Verdict]) -> Table:
    """A row a law: verdict, examples, largest difference, tolerance, seconds."""
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column("law")
    table.add_column("verdict")
    for heading in ("examples", "largest difference", "tolerance", "seconds"):
        table.add_column(heading, justify="right")
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


def failure_block(verdict: Verdict, target: str, saved: Path | None) -> str:
    """The block of one VIOLATED or ERROR, as plain text."""
    seed = "" if verdict.decoder_seed is None else f"   seed {verdict.decoder_seed}"
    lines = [f"{verdict.answer.value}  {verdict.law}   {target}{seed}"]
    if verdict.schedule is not None and verdict.tokens is not None:
        count = len(verdict.tokens)
        shown = ", ".join(map(str, verdict.tokens[:_TOKENS_SHOWN]))
        more = ", ..." if count > _TOKENS_SHOWN else ""
        plural = "token" if count == 1 else "tokens"
        lines.append(
            _line("smallest schedule", f"{verdict.schedule:<14} {count} {plural} [{shown}{more}]")
        )
    broken = verdict.violation
    if broken is not None and broken.position is not None:
        place = "full pass" if broken.call is None else f"chunk {broken.call}, row {broken.row}"
        lines.append(
            _line(
                "unmoved row" if broken.difference == 0 else "first wrong row",
                f"{f'position {broken.position}':<14} {place}   "
                f"|difference| {number(broken.difference)}   tolerance {number(broken.tolerance)}",
            )
        )
    lines.append(_line("what", verdict.message))
    if saved is not None:
        lines.append(_line("replay", f"cachecheck replay {saved}"))
    return "\n".join(lines)


def _line(label: str, text: str) -> str:
    return f"  {label:<19} {text}"


def summary(verdicts: Sequence[Verdict]) -> str:
    """What the verdicts amount to, with a number for how sure that is."""
    answers = [verdict.answer for verdict in verdicts]
    parts = []
    for answer, text in ((Answer.VIOLATED, "violated"), (Answer.ERROR, "could not be checked")):
        named = [verdict.law for verdict in verdicts if verdict.answer is answer]
        if named:
            parts.append(f"{len(named)} of {len(verdicts)} laws {text}: {', '.join(named)}")
    if parts:
        return "; ".join(parts)
    if Answer.INCONCLUSIVE in answers:
        unsure = [v.law for v in verdicts if v.answer is Answer.INCONCLUSIVE]
        return f"no law is broken, but nothing can be concluded from {', '.join(unsure)}"
    held = [v for v in verdicts if v.answer is Answer.HOLDS]
    if not held:
        return "nothing could be checked"
    examples = min(v.examples for v in held)
    rate = math.ceil(1000 * (1 - 0.05 ** (1 / examples))) / 1000  # rounded up: never too bold
    return (
        f"{len(held)} of {len(verdicts)} laws hold. A fault that shows in {rate:.1%} of such cases "
        "or more would have been\nfound with a probability of 95% or more, law by law."
    )


def heading(target: str, seed: int, examples: int) -> str:
    """What is under test, and with what: enough to repeat the run."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "hypothesis", "pytest"))
    python = ".".join(map(str, sys.version_info[:3]))
    return (
        f"{target}   seed {seed}, {examples} examples a law\n"
        f"cachecheck {__version__}, Python {python}, {versions}\n"
    )


def print_report(
    console: Console, verdicts: Sequence[Verdict], target: str, saved: dict[str, Path]
) -> None:
    """The table, a block for each failure, other messages, and what it amounts to."""
    console.print(law_table(verdicts))
    told: set[str] = set()
    for verdict in verdicts:
        if verdict.schedule is not None:
            console.print()
            print_plain(console, failure_block(verdict, target, saved.get(verdict.law)))
        elif verdict.message and verdict.message not in told:
            told.add(verdict.message)  # a wrong adapter fails every law with the same line
            console.print()
            print_plain(
                console, f"{verdict.answer.value}  {_laws(verdict, verdicts)}{verdict.message}"
            )
    console.print()
    print_plain(console, summary(verdicts))


def _laws(verdict: Verdict, verdicts: Sequence[Verdict]) -> str:
    """The laws that say the same as ``verdict``; nothing where all of them do."""
    same = [one.law for one in verdicts if one.message == verdict.message]
    return "" if len(same) == len(verdicts) else f"{', '.join(same)}   "


def print_plain(console: Console, text: str) -> None:
    """Print ``text`` as it is: no markup, no ``:100:`` turned into a picture, no lines cut."""
    console.print(Text(text), soft_wrap=True)
