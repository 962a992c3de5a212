"""Certificates for people."""

from __future__ import annotations

import textwrap

from rich.console import Console

from cachecheck.certify.certificate import Certificate
from cachecheck.report.failure import number
from cachecheck.report.terminal import print_plain
from cachecheck.verdict import Answer
from cachecheck.verdict.sentences import sentence


def print_certificate(
    console: Console, found: Certificate, target: str, seed: int, seconds: float
) -> None:
    """The answer, what it covers, and exactly what it proves."""
    what = "programs" if found.method == "enumeration" else "partitions"
    lines = [f"{found.answer.value}  {found.law}   {target}   seed {seed}"]
    broken = found.violation
    if broken is not None and found.tokens is not None:
        lines += [
            f"  smallest schedule   {found.schedule}   tokens {list(found.tokens)}",
            f"  first wrong row     {_where(found)}",
            f"  what                {broken.message}",
        ]
    else:
        lines.append(f"  covered             {found.covered:,} {what}, by {found.method}")
        drift = "" if found.drift is None else f", a token a call {number(found.drift)}"
        lines.append(f"  largest difference  {number(found.largest_difference)}{drift}")
    lines.append(f"  decoder calls       {found.calls:,} in {seconds:.2f} s")
    for at, line in enumerate(found.proves):
        label = f"  {'proves' if at == 0 else '':<19} "
        lines += textwrap.wrap(line, 100, initial_indent=label, subsequent_indent=" " * 22)
    for reason in found.reasons:
        label = f"  {'because' if found.answer is Answer.INCONCLUSIVE else 'note':<19} "
        lines += textwrap.wrap(
            sentence(reason), 100, initial_indent=label, subsequent_indent=" " * 22
        )
    print_plain(console, "\n".join(lines))


def _where(found: Certificate) -> str:
    broken = found.violation
    if broken is None or broken.position is None:
        return "-"
    return (
        f"position {broken.position}   |difference| {number(broken.difference)}   "
        f"tolerance {number(broken.tolerance)}"
    )
