"""Random search: cases drawn by Hypothesis, tried on one law, failures shrunk by `shrink`.

The loop is our own, and a plain one: it ends with the first case that breaks the law, and tries
nothing twice. A seed gives the same cases again: they follow from it, the law and what the decoder
declares.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from itertools import count

from cachecheck.errors import CachecheckError, DecoderError, DecoderHangsError, Unsupported
from cachecheck.guard import CallTimeUpError, Guarded
from cachecheck.judge import Tally, Trial, concluded
from cachecheck.judge.conclude import hung, interrupted, refusal_reason, unusable
from cachecheck.judge.vacuity import idle_rows_of
from cachecheck.laws import Law
from cachecheck.search.cases import Effort, numbered_cases
from cachecheck.search.smallest import (
    InterruptedSearchError,
    smallest_error,
    smallest_idle,
    smallest_violation,
)
from cachecheck.target import Target
from cachecheck.verdict import Answer, Code, Reason, Verdict

_HOPELESS = 12
"""Cases without any movement after which it is asked whether there can be some."""


def search(
    law: Law,
    target: Target,
    effort: Effort,
    *,
    on_case: Callable[[Tally], None] = lambda _tally: None,
) -> tuple[Verdict, BaseException | None]:
    """Try ``law`` on drawn cases.

    Args:
        law: one of `cachecheck.laws.LAWS`.
        target: from `cachecheck.target.load_target`.
        effort: seed, number of cases, longest sequence.
        on_case: called at each case with what was tried so far.

    Returns:
        The verdict, and the exception behind a VIOLATED or ERROR (for a debugger), else None.

    Raises:
        InterruptedSearchError: Ctrl-C, when a failing case was known already.
    """
    began = time.perf_counter()
    found = Search(law, target, effort, on_case)
    try:
        verdict, cause = found.run()
    except Unsupported as refusal:
        verdict, cause = unusable(found.tally, Answer.UNSUPPORTED, refusal_reason(refusal)), None
    except DecoderHangsError as hang:
        verdict, cause = hung(found.tally, hang), hang
    except InterruptedSearchError:
        raise
    except KeyboardInterrupt as stop:
        known = interrupted(found.tally)
        if known is None:
            raise
        raise InterruptedSearchError(known) from stop
    except CachecheckError as error:
        reason = Reason(Code.RAISED, quoted=str(error))
        verdict, cause = unusable(found.tally, Answer.ERROR, reason), error.__cause__ or error
    return replace(verdict, seconds=time.perf_counter() - began), cause


class LawBrokenError(Exception):
    """Ends the cases of a search."""


class Search:
    """One law searched on one target."""

    def __init__(
        self, law: Law, target: Target, effort: Effort, on_case: Callable[[Tally], None]
    ) -> None:
        self.law, self.effort, self.on_case = law, effort, on_case
        self.tally = Tally(law)
        self.make = lru_cache(maxsize=16)(_probed(target, effort))
        self.decoder_seeds = range(effort.seed, effort.seed + target.seeds)
        self.began = time.perf_counter()

    def run(self) -> tuple[Verdict, BaseException | None]:
        """All known cases, then drawn ones; what they amount to, made small."""
        lacking = self._lacking()
        if lacking is not None:
            reason = Reason(Code.NOT_OFFERED, quoted=lacking)
            return unusable(self.tally, Answer.UNSUPPORTED, reason), None
        try:
            self.try_known()
            self.try_drawn()
        except LawBrokenError as broken:
            first = None if self._broken_before() else self.decoder_seeds.start
            verdict = smallest_violation(self.tally, self.make, first)
            return replace(verdict, known_before=first is None), broken
        verdict = concluded(self.tally)
        if verdict.answer is Answer.ERROR:
            return smallest_error(self.tally)
        if verdict.answer is Answer.VIOLATED:
            return smallest_idle(self.tally, verdict), None
        return verdict, None

    def try_known(self) -> None:
        """Cases that failed before, as far as they still fit."""
        for decoder_seed, case in self.effort.known:
            known = Trial(decoder_seed, self.make(decoder_seed), case)
            if known.fits():
                self.attempt(known)

    def _broken_before(self) -> bool:
        """True if what is wrong is one of the known cases: it keeps its decoder, and its file."""
        assert self.tally.broken is not None  # noqa: S101 - asked after LawBrokenError
        trial = self.tally.broken[0]
        return (trial.decoder_seed, trial.case) in self.effort.known

    def attempt(self, trial: Trial) -> None:
        """Try the law on one case.

        Raises:
            LawBrokenError: it is broken, and the tally has it.
        """
        self.on_case(self.tally)
        self.tally.attempt(trial)
        if self.tally.broken is not None:
            raise LawBrokenError

    def try_drawn(self) -> None:
        """As many cases as the effort says, or until the time is up; then at least one."""
        numbered = numbered_cases(self.make, self.decoder_seeds, self.law, self.effort)
        for number in count():
            if self.enough(number):
                return
            self.attempt(numbered(number))

    def enough(self, drawn: int) -> bool:
        """True if so many drawn cases are as many as are wanted."""
        if self._hopeless():
            return True
        if self.effort.seconds is None:
            return drawn >= self.effort.examples
        return drawn > 0 and self._time_is_up()

    def _time_is_up(self) -> bool:
        seconds = self.effort.seconds
        return seconds is not None and time.perf_counter() - self.began >= seconds

    def _hopeless(self) -> bool:
        """True if a law that one case can establish is not going to be: no need to go on."""
        tally = self.tally
        if self.law.everywhere or tally.examples < _HOPELESS or tally.closest is None:
            return False
        if tally.closest[1].difference > 0 or tally.latest is None:
            return False
        try:
            return idle_rows_of(tally.latest.decoder, cached=True) is not None
        except (DecoderError, Unsupported):
            return False

    def _lacking(self) -> str | None:
        """Members that no decoder of the target offers and the law needs; None if one does.

        Where many seeds pick many configurations, some of them may: then cases are tried.
        """
        if not self.law.needs:
            return None
        lacking = None
        for seed in self.decoder_seeds[:_LOOKED_AT]:
            lacking = self.law.lacking(self.make(seed))
            if lacking is None:
                return None
        return lacking


_LOOKED_AT = 32  # decoders; drawing on for one that has it would take minutes


def _probed(target: Target, effort: Effort) -> Callable[[int], Guarded]:
    def make(seed: int) -> Guarded:
        try:
            with effort.limit.on() if effort.limit else contextlib.nullcontext():
                decoder = target.make(seed)
        except CallTimeUpError as hang:
            raise DecoderHangsError(f"{target.name}({seed}) did not return {hang}") from hang
        decoder.limit = effort.limit
        decoder.probe()
        return decoder

    return make
