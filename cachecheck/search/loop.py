"""Random search: cases drawn by Hypothesis, tried on one law, failures shrunk by `shrink`.

The loop is our own, and a plain one: it ends with the first case that breaks the law, and tries
nothing twice. Shrinking keeps the identity of the failure it began with, (law, kind): a smaller
case that fails in another way does not count. A seed gives the same cases again: they follow from
it, the law and what the decoder declares.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import lru_cache
from itertools import count

from cachecheck.errors import CachecheckError, DecoderHangsError, Unsupported
from cachecheck.guard import CallTimeUpError, Guarded
from cachecheck.laws import Law
from cachecheck.search import verdicts
from cachecheck.search.cases import Drawn, Effort, numbered_cases
from cachecheck.search.tally import LawBrokenError, Tally
from cachecheck.target import Target
from cachecheck.verdict import Answer, Verdict


class InterruptedSearchError(KeyboardInterrupt):
    """Ctrl-C while a failing case was being shrunk: ``verdict`` is what was known by then."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__()
        self.verdict = verdict


def search(
    law: Law,
    target: Target,
    effort: Effort,
    *,
    on_case: Callable[[Tally], None] = lambda _seen: None,
) -> tuple[Verdict, BaseException | None]:
    """Try ``law`` on drawn cases.

    Args:
        law: one of `cachecheck.laws.LAWS`.
        target: from `cachecheck.target.load_target`.
        effort: seed, number of cases, longest sequence.
        on_case: called at each case with what was seen so far.

    Returns:
        The verdict, and the exception behind a VIOLATED or ERROR (for a debugger), else None.

    Raises:
        InterruptedSearchError: Ctrl-C, when a failing case was known already.
    """
    tally = Tally(law, on_case)
    try:
        return _searched(tally, target, effort)
    except Unsupported as refusal:
        return tally.verdict(Answer.UNSUPPORTED, str(refusal)), None
    except DecoderHangsError as hang:
        return verdicts.hung(tally, hang), hang
    except CachecheckError as error:
        return tally.verdict(Answer.ERROR, str(error)), error.__cause__ or error
    except KeyboardInterrupt as stop:
        known = verdicts.interrupted(tally)
        if known is None:
            raise
        raise InterruptedSearchError(known) from stop


def _searched(tally: Tally, target: Target, effort: Effort) -> tuple[Verdict, BaseException | None]:
    make = lru_cache(maxsize=16)(_probed(target, effort))
    decoder_seeds = range(effort.seed, effort.seed + target.seeds)
    lacking = _lacking(tally.law, make, decoder_seeds)
    if lacking is not None:
        return tally.verdict(Answer.UNSUPPORTED, lacking), None
    try:
        for decoder_seed, case in effort.known:
            known = Drawn(decoder_seed, make(decoder_seed), case)
            if known.fits():
                tally.attempt(known)
        tally.known = False
        numbered = numbered_cases(make, decoder_seeds, tally.law, effort)
        for number in count():
            if _enough(tally, effort, number):
                break
            tally.attempt(numbered(number))
    except LawBrokenError as broken:
        tally.broken = broken
        return verdicts.violated(tally, make, decoder_seeds.start)
    return verdicts.conclusion(tally)


def _enough(tally: Tally, effort: Effort, drawn: int) -> bool:
    """Whether to stop after so many cases; under a limit of time, at least one is drawn."""
    if tally.hopeless:
        return True
    if effort.seconds is None:
        return drawn >= effort.examples
    return drawn > 0 and tally.time_is_up(effort.seconds)


def _lacking(law: Law, make: Callable[[int], Guarded], decoder_seeds: range) -> str | None:
    """What no decoder of the target offers that the law needs; None if one does.

    Where many seeds pick many configurations, some of them may: then cases are tried.
    """
    if not law.needs:
        return None
    lacking = None
    for seed in decoder_seeds[:_LOOKED_AT]:
        lacking = law.lacking(make(seed))
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
