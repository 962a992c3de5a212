"""Verdicts for people: a row a law, and a block for each failure."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cachecheck import __version__
from cachecheck.laws import LAWS, implied, weakest
from cachecheck.report.failure import failure_block, number
from cachecheck.report.margins import margin_line
from cachecheck.verdict import NOT_OFFERED, Answer, Verdict

STYLES = {
    Answer.HOLDS: "green",
    Answer.VIOLATED: "bold red",
    Answer.INCONCLUSIVE: "yellow",
    Answer.UNSUPPORTED: "dim",
    Answer.ERROR: "bold magenta",
}


def law_table(verdicts: Sequence[Verdict]) -> Table:
    """A row a law: verdict, examples, largest difference, tolerance, seconds."""
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column("law")
    table.add_column("verdict")
    for heading in ("examples", "largest difference", "tolerance", "seconds"):
        table.add_column(heading, justify="right")
    for verdict in verdicts:
        if _not_offered(verdict):
            continue  # named below the table: most decoders offer few of all
        table.add_row(
            verdict.law,
            Text(verdict.answer.value, STYLES[verdict.answer]),
            str(verdict.examples),
            number(verdict.largest_difference),
            number(verdict.tolerance),
            f"{verdict.seconds:.1f}",
        )
    return table


def _not_offered(verdict: Verdict) -> bool:
    """Whether the decoder simply lacks what the law is about."""
    return verdict.answer is Answer.UNSUPPORTED and verdict.message.startswith(NOT_OFFERED)


def summary(verdicts: Sequence[Verdict]) -> str:
    """What the verdicts amount to, with a number for how sure that is."""
    answers = [verdict.answer for verdict in verdicts]
    checked = [verdict for verdict in verdicts if not _not_offered(verdict)]
    parts = []
    for answer, text in ((Answer.VIOLATED, "violated"), (Answer.ERROR, "could not be checked")):
        named = [verdict.law for verdict in verdicts if verdict.answer is answer]
        if named:
            parts.append(f"{len(named)} of {len(checked)} laws {text}: {', '.join(named)}")
    if parts:
        return "; ".join(parts) + _consequences(verdicts)
    if Answer.INCONCLUSIVE in answers:
        unsure = [v.law for v in verdicts if v.answer is Answer.INCONCLUSIVE]
        return f"no law is broken, but nothing can be concluded from {', '.join(unsure)}"
    held = [v for v in verdicts if v.answer is Answer.HOLDS]
    if not held:
        return "nothing could be checked"
    examples = min(v.examples for v in held)
    rate = math.ceil(1000 * (1 - 0.05 ** (1 / examples))) / 1000  # rounded up: never too bold
    return (
        f"{len(held)} of {len(checked)} laws hold. A fault that shows in {rate:.1%} of such cases "
        "or more would have been\nfound with a probability of 95% or more, law by law."
    )


def _consequences(verdicts: Sequence[Verdict]) -> str:
    """Which broken law to look at first, and what cannot hold while it is broken."""
    broken = [verdict.law for verdict in verdicts if verdict.answer is Answer.VIOLATED]
    idle = {verdict.law for verdict in verdicts if verdict.answer is Answer.UNSUPPORTED}
    follows = [law for law in LAWS if law not in idle and implied(LAWS, law) & set(broken)]
    if not follows:
        return ""
    first = " and ".join(weakest(LAWS, broken))
    lines = [f"Begin with {first}. What says more cannot hold before:"]
    return "\n".join(["", *lines, *(f"  {law:<13} {_reason(law, broken)}" for law in follows)])


def _reason(law: str, broken: Sequence[str]) -> str:
    """Why ``law`` cannot hold: the law it implies that is broken, or leads to one."""
    for weaker, reason in LAWS[law].implies.items():
        if weaker in broken or implied(LAWS, weaker) & set(broken):
            return f"implies {weaker}: {reason}"
    return ""


def versions() -> dict[str, str]:
    """Of what a run depends on."""
    python = ".".join(map(str, sys.version_info[:3]))
    named = {name: version(name) for name in ("numpy", "hypothesis", "pytest")}
    return {"cachecheck": __version__, "Python": python, **named}


def heading(target: str, seed: int, amount: str) -> str:
    """What is under test, and with what: enough to repeat the run."""
    named = ", ".join(f"{name} {number}" for name, number in versions().items())
    return f"{target}   seed {seed}, {amount}\n{named}\n"


def print_report(
    console: Console, verdicts: Sequence[Verdict], target: str, saved: Mapping[str, Path | str]
) -> None:
    """The table, a block for each failure, other messages, and what it amounts to."""
    nothing = {verdict.message for verdict in verdicts if not verdict.examples}
    if len(nothing) > 1 or any(verdict.examples for verdict in verdicts):
        console.print(law_table(verdicts))  # not where all laws have one and the same line to say
    told: set[str] = set()
    for verdict in verdicts:
        if verdict.schedule is not None and _shown_before(verdict, verdicts):
            continue
        if verdict.schedule is not None:
            console.print()
            print_plain(console, failure_block(verdict, target, saved.get(verdict.law)))
        elif verdict.message and verdict.message not in told and not _not_offered(verdict):
            told.add(verdict.message)  # a wrong adapter fails every law with the same line
            console.print()
            print_plain(
                console, f"{verdict.answer.value}  {_laws(verdict, verdicts)}{verdict.message}"
            )
    lacking = [verdict.law for verdict in verdicts if _not_offered(verdict)]
    if lacking:
        console.print()
        print_plain(console, f"UNSUPPORTED  {', '.join(lacking)}   not offered by this decoder")
    room = margin_line(verdicts)
    if room:
        console.print()
        print_plain(console, room)
    console.print()
    print_plain(console, summary(verdicts))


def _shown_before(verdict: Verdict, verdicts: Sequence[Verdict]) -> bool:
    """Whether a law that follows from this one is broken by the same case."""
    if verdict.answer is not Answer.VIOLATED:
        return False
    weaker = implied(LAWS, verdict.law)
    case = (verdict.schedule, verdict.tokens, verdict.decoder_seed)
    return any(
        one.law in weaker
        and one.answer is Answer.VIOLATED
        and (one.schedule, one.tokens, one.decoder_seed) == case
        for one in verdicts
    )


def _laws(verdict: Verdict, verdicts: Sequence[Verdict]) -> str:
    """The laws that say the same as ``verdict``; nothing where all of them do."""
    same = [one.law for one in verdicts if one.message == verdict.message]
    return "" if len(same) == len(verdicts) else f"{', '.join(same)}   "


def print_plain(console: Console, text: str) -> None:
    """Print ``text`` as it is: no markup, no ``:100:`` turned into a picture, no lines cut."""
    console.print(Text(text), soft_wrap=True)
