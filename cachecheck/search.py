"""Random search: cases drawn through Hypothesis, tried on one law, failures shrunk by `shrink`.

Shrinking keeps the identity of the failure it began with, (law, kind): a smaller case that fails
in another way does not count. Nothing is read from or written to a Hypothesis database, so that a
seed gives the same cases again, with the same code (Hypothesis also draws from the constants that
it finds in source files near the decoder's).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import Flaky

from cachecheck.cases import Drawn, Effort, cases
from cachecheck.errors import CachecheckError, Unsupported
from cachecheck.guard import Guarded
from cachecheck.laws import Law
from cachecheck.seen import LawBrokenError, Seen
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
    on_example: Callable[[int], None] = lambda _count: None,
) -> tuple[Verdict, BaseException | None]:
    """Try ``law`` on drawn cases.

    Args:
        law: one of `cachecheck.laws.LAWS`.
        target: from `cachecheck.target.load_target`.
        effort: seed, number of cases, longest sequence.
        on_example: called with the number of cases tried so far.

    Returns:
        The verdict, and the exception behind a VIOLATED or ERROR (for a debugger), else None.

    Raises:
        InterruptedSearchError: Ctrl-C, when a failing case was known already.
    """
    seen = Seen(law, on_example)
    make = lru_cache(maxsize=8)(_probed(target))
    decoder_seeds = range(effort.seed, effort.seed + target.seeds)

    @hypothesis.seed(effort.seed)
    @settings(
        max_examples=effort.examples,
        database=None,
        deadline=None,
        phases=(Phase.generate,),  # shrinking is ours, see shrink.py
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )
    @hypothesis.given(cases(make, decoder_seeds, law, effort))
    def attempt(drawn: Drawn) -> None:
        seen.attempt(drawn)

    try:
        try:
            attempt()
        except LawBrokenError as broken:
            seen.broken = broken
            # In here, so that Ctrl-C while it shrinks is met below.
            return seen.violated(make, decoder_seeds.start)
        return seen.conclusion()
    except Unsupported as refusal:
        return seen.verdict(Answer.UNSUPPORTED, str(refusal)), None
    except CachecheckError as error:
        return seen.verdict(Answer.ERROR, str(error)), error.__cause__ or error
    except Flaky as flaky:
        return seen.unrepeatable(), flaky
    except KeyboardInterrupt as stop:
        known = seen.interrupted()
        if known is None:
            raise
        raise InterruptedSearchError(known) from stop


def _probed(target: Target) -> Callable[[int], Guarded]:
    def make(seed: int) -> Guarded:
        decoder = target.make(seed)
        decoder.probe()
        return decoder

    return make
