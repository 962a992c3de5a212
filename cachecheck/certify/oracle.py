"""One sequence, its full pass, and calls on it: compared, judged and counted."""

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
    """The full pass over one sequence; what single calls give is compared with it, and judged.

    Attributes:
        tokens: the sequence.
        calls: decoder calls so far.
        tally: what was judged so far, for the law `schedule`.
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
            start: how many tokens the cache holds.
            stop: how many it holds afterwards.
            cache: to go on from.
            case: that leads there, this call included; what is in doubt is run again in float64.
            law: that it belongs to.
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
