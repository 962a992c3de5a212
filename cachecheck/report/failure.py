"""The block of one failure: the schedule, the place of the first wrong row, the replay line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from cachecheck.schedule import Append, Schedule
from cachecheck.schedule.notation import format_steps
from cachecheck.verdict import Verdict, Violation

_TOKENS_SHOWN = 16


def number(value: float | None) -> str:
    """A difference or tolerance as the tables show it: ``5.9e-01``, ``0`` when exactly zero."""
    if value is None:
        return "-"
    return "0" if value == 0 else f"{value:.1e}"


def failure_block(verdict: Verdict, target: str, replay: str | None) -> str:
    """The block of one VIOLATED or ERROR, as plain text."""
    seed = "" if verdict.decoder_seed is None else f"   seed {verdict.decoder_seed}"
    lines = [f"{verdict.answer.value}  {verdict.law}   {target}{seed}"]
    if verdict.schedule is not None and verdict.tokens is not None:
        count = len(verdict.tokens)
        plural = "token" if count == 1 else "tokens"
        label = "smallest schedule" if verdict.shrunk else "schedule"
        width = max(14, len(verdict.schedule) + 2)
        shown = f"{verdict.schedule:<{width}} {count} {plural} {_tokens(verdict.tokens)}"
        lines.append(_line(label, shown))
    broken = verdict.violation
    if broken is not None and broken.position is None and broken.call is not None:
        lines.append(_line("first seen", _place(broken, verdict.schedule)))
    if broken is not None and broken.position is not None:
        place = _place(broken, verdict.schedule)
        lines.append(
            _line(
                "unmoved row" if broken.difference == 0 else "first wrong row",
                f"{f'position {broken.position}':<14} {place}   "
                f"|difference| {number(broken.difference)}   tolerance {number(broken.tolerance)}",
            )
        )
        lines += _own_tokens(verdict)
    lines.append(_line("what", verdict.message))
    if replay is not None:
        lines.append(_line("replay", f"cachecheck replay {replay}"))
    return "\n".join(lines)


def _tokens(tokens: Sequence[int]) -> str:
    more = ", ..." if len(tokens) > _TOKENS_SHOWN else ""
    return f"[{', '.join(map(str, tokens[:_TOKENS_SHOWN]))}{more}]"


def _own_tokens(verdict: Verdict) -> list[str]:
    """The tokens of the sequence with the wrong row by then, where those are not all tokens."""
    broken, schedule = verdict.violation, Schedule.parse(verdict.schedule or "1")
    if broken is None or broken.call is None or schedule.plain:
        return []
    step = next(islice(schedule.steps, broken.call - 1, None), None)
    if not isinstance(step, Append):  # a law may make calls of its own after the schedule's
        return []
    branches = next(islice(schedule.walk(verdict.tokens), broken.call - 1, None))
    tokens = branches.live[step.branch].rows[broken.sequence or 0]
    return [] if tokens == verdict.tokens else [_line("its tokens", _tokens(tokens))]


def _place(broken: Violation, schedule: str | None) -> str:
    """The call that gave the row: a chunk of a plain schedule, else a step."""
    if broken.call is None:
        batched = broken.sequence is not None
        return f"full_batch, sequence {broken.sequence}" if batched else "full pass"
    parsed = Schedule.parse(schedule or "1")
    row = "" if broken.row is None else f", row {broken.row}"
    if broken.sequence is not None:
        row = f", sequence {broken.sequence}{row}"
    if parsed.plain:
        return f"chunk {broken.call}{row}"
    # A law may make calls of its own after the schedule's.
    step = parsed.steps[broken.call - 1 : broken.call]
    shown = f" ({format_steps(step)})" if step else ""
    return f"step {broken.call}{shown}{row}"


def _line(label: str, text: str) -> str:
    return f"  {label:<19} {text}"
