"""The full pass of one sequence, with which calls are compared, judged and counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cachecheck.guard import Guarded
from cachecheck.judge import Judged, Tally, Trial, judged
from cachecheck.laws import LAWS, Law
from cachecheck.laws.comparison import RowComparison
from cachecheck.schedule import Case, Schedule

SCHEDULE = LAWS["schedule"]
_COMPARISON = RowComparison(
    SCHEDULE.id, "rows", "decoding in these chunks gives other rows than one full pass"
)


class Oracle:
    """The full pass over one sequence; rows of single calls are compared with it and judged.

    Attributes:
        tokens: the sequence.
        calls: decoder calls so far.
        tally: of all judgements so far, for the law `schedule`.
    """

    def __init__(self, decoder: Guarded, tokens: Sequence[int], seed: int = 0) -> None:
        self.decoder, self.tokens, self.seed = decoder, tuple(tokens), seed
        self._rows = decoder.full(self.tokens)
        self._bounds = decoder.bounds(self._rows)
        self.calls = 1
        self.tally = Tally(SCHEDULE)

    def partition(self, chunks: Sequence[int]) -> Case:
        """The beginning of the sequence, fed in these chunks."""
        return Case(self.tokens[: sum(chunks)], Schedule.of(chunks))

    def extend(
        self, start: int, stop: int, cache: Any, case: Case, law: Law = SCHEDULE
    ) -> tuple[Judged, Any]:
        """Append the tokens from ``start`` to ``stop`` to ``cache``.

        Args:
            start: number of tokens in the cache.
            stop: number of tokens in it afterwards.
            cache: to extend.
            case: the tokens and calls up to this call; a doubtful one is run again in float64.
            law: the law that the case belongs to.
        """
        rows, after = self.decoder.extend(self.tokens[start:stop], cache)
        self.calls += 1
        call = len(case.schedule.steps)
        finding = _COMPARISON.of(
            rows, self._rows[start:stop], self._bounds[start:stop], position=start, call=call
        )
        found = judged(self.decoder, finding, case.tokens, lambda twin: law.try_on(twin, case))
        self.tally.note(Trial(self.seed, self.decoder, case), found)
        return found, after
