"""``cachecheck shrink``: a failing schedule that somebody already has, made small."""

from __future__ import annotations

import contextlib
import re
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rich.console import Console

from cachecheck.commands.progress import watching
from cachecheck.errors import CachecheckError, DecoderError, InputError, Unsupported
from cachecheck.guard import CallLimit, Guarded
from cachecheck.judge import Judged, Tally, Trial, concluded, examine
from cachecheck.judge.conclude import violated
from cachecheck.laws import LAWS, Law
from cachecheck.replay import replay_arguments, save_failure
from cachecheck.report.failure import failure_block
from cachecheck.report.terminal import print_plain
from cachecheck.schedule import Case, Schedule
from cachecheck.schedule.tokens import tokens_of_seed
from cachecheck.shrink import coarse, cut_after, shrink
from cachecheck.target import load_target
from cachecheck.verdict import Answer, Verdict, exit_code


@dataclass(frozen=True)
class Request:
    """A request from the command line.

    Attributes:
        target: name of the decoder.
        schedule: in the notation of `Schedule.parse`.
        law: id; None: ``schedule`` for plain schedules, ``programs`` for others.
        tokens: in order of the calls; None: drawn from ``token_seed``.
        token_seed: of the tokens.
        seed: of the decoder.
        call_timeout: seconds that one call may take, None for ever.
    """

    target: str
    schedule: str
    law: str | None = None
    tokens: tuple[int, ...] | None = None
    token_seed: int = 0
    seed: int = 0
    call_timeout: float | None = None


class Reduction:
    """A case on its way down; ``case`` and ``judged`` are the smallest so far at any time."""

    def __init__(self, request: Request) -> None:
        self.schedule = Schedule.parse(request.schedule)
        self.law = _law(request.law, self.schedule)
        self.decoder = load_target(request.target).make(request.seed)
        if request.call_timeout is not None:
            self.decoder.limit = CallLimit(request.call_timeout)
        self.decoder.probe()
        self.case = Case(_tokens(request, self.schedule, self.decoder), self.schedule)
        self.seed = request.seed
        self.tally = Tally(self.law)
        self.judged: Judged | None = None
        self.interrupted = False

    def run(self) -> Verdict:
        """Judge the case, and shrink it if it is wrong.

        Raises:
            Unsupported: the decoder refuses.
            DecoderError: the decoder raised, or gave what cannot be used.
        """
        started = time.perf_counter()
        self.judged = self.tally.attempt(Trial(self.seed, self.decoder, self.case))
        if self.tally.raised:
            raise self.tally.raised[-1][1]
        if self.judged is None:
            raise self.tally.refusals[-1]
        if self.judged.wrong:
            try:
                self._shrink()
            except KeyboardInterrupt:
                self.interrupted = True
            verdict = violated(
                self.tally,
                Trial(self.seed, self.decoder, self.case),
                self.judged,
                shrunk=not self.interrupted,
            )
        else:
            verdict = concluded(self.tally)
        return replace(verdict, seconds=time.perf_counter() - started)

    def _shrink(self) -> None:
        assert self.judged is not None  # noqa: S101 - judged wrong, see `run`
        violation, steps = self.judged.finding.violation, self.case.schedule.steps
        assert violation is not None  # noqa: S101 - what is wrong has one
        call, row = violation.call, violation.row
        if self.case.schedule.plain and call is not None and row is not None and call <= len(steps):
            self._fails(cut_after(self.case, call, row), violation.kind)
        fails = partial(self._fails, kind=violation.kind)
        coarse(self.case, fails)
        shrink(self.case, fails, least_calls=self.law.least_calls)

    def _fails(self, case: Case, kind: str) -> bool:
        """True if a smaller case fails in the same way; it is the case from now on then."""
        with contextlib.suppress(CachecheckError):
            found = examine(self.law, self.decoder, case)
            violation = found.finding.violation
            if found.wrong and violation is not None and violation.kind == kind:
                self.case, self.judged = case, found
                return True
        return False


def run(request: Request, save: Path, console: Console) -> int:
    """Shrink, print, store the small case; return the exit code.

    Raises:
        InputError: a schedule, tokens or a law that do not fit.
        TargetError: the target could not be loaded.
    """
    reduction = Reduction(request)

    def watch() -> tuple[float, str, str]:
        case = reduction.case
        sizes = f"{len(case.tokens):,} tokens in {len(case.schedule.steps):,} steps"
        return 0.0, "shrinking", f"{sizes}, {reduction.decoder.calls:,} decoder calls"

    with watching(watch, total=None):
        try:
            verdict = reduction.run()
        except (Unsupported, DecoderError) as error:
            answer = "UNSUPPORTED" if isinstance(error, Unsupported) else "ERROR"
            print_plain(console, f"{answer}  {reduction.law.id}   {error}")
            return 2
    calls = reduction.decoder.calls
    if verdict.answer is Answer.UNSUPPORTED:
        print_plain(console, f"UNSUPPORTED  {verdict.law}   {verdict.message}")
        return 2
    if verdict.answer is Answer.HOLDS:
        shown = f"{verdict.law} holds on this case: nothing to shrink"
        print_plain(console, f"HOLDS  {shown}; {calls:,} decoder calls")
        return 0
    again: str | None = None
    if verdict.answer is Answer.VIOLATED:
        again = replay_arguments(save_failure(verdict, request.target, save), request.target)
    print_plain(console, failure_block(verdict, request.target, again))
    sizes = f"from {reduction.schedule.length:,} tokens in {len(reduction.schedule.steps):,} steps"
    took = f"{calls:,} decoder calls, {verdict.seconds:.1f} s"
    print_plain(console, f"  {'shrunk':<19} {sizes}: {took}")
    if reduction.interrupted:
        print_plain(console, "  interrupted: a smaller schedule may exist")
        return 130
    return exit_code([verdict])


def _law(name: str | None, schedule: Schedule) -> Law:
    if name is None:
        return LAWS["schedule" if schedule.plain else "programs"]
    if name not in LAWS:
        raise InputError(f"unknown law {name!r}; known: {', '.join(LAWS)}")
    law = LAWS[name]
    if not schedule.plain and not law.operations:
        raise InputError(f"{name} is about calls on one branch; the schedule is {schedule}")
    if len(schedule.steps) < law.least_calls:
        raise InputError(f"{name} needs {law.least_calls} calls or more; got {schedule}")
    return law


def _tokens(request: Request, schedule: Schedule, decoder: Guarded) -> tuple[int, ...]:
    room = decoder.capabilities.max_length
    if room is not None and schedule.longest > room:
        raise InputError(f"the schedule comes to {schedule.longest} tokens; max_length is {room}")
    if request.tokens is None:
        return tokens_of_seed(request.token_seed, schedule.length, decoder.vocab_size)
    outside = [token for token in request.tokens if not 0 <= token < decoder.vocab_size]
    if outside:
        raise InputError(f"token {outside[0]} is outside the vocabulary of {decoder.vocab_size}")
    return request.tokens


def read_tokens(text: str) -> tuple[int, ...]:
    """Token IDs from ``1,2,3``, or from a file of numbers (commas, blanks or a JSON list).

    Raises:
        InputError: neither.
    """
    path = Path(text)
    if re.fullmatch(r"\s*\d+(\s*,\s*\d+)*\s*", text):
        content = text
    else:
        try:
            content = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"tokens are numbers joined by commas, or a file of them; got {text!r}"
            ) from error
    numbers = re.findall(r"-?[\w.]+", content)
    if not numbers or not all(number.isdecimal() for number in numbers):
        raise InputError(f"{path}: expected token IDs >= 0, separated by blanks or commas")
    return tuple(map(int, numbers))
