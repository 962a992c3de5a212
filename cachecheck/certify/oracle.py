"""One sequence, its full pass, and calls on it: compared and counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cachecheck.guard import Guarded
from cachecheck.laws.base import RowComparison, closeness, in_doubt
from cachecheck.verdict import Finding

_COMPARISON = RowComparison(
    "schedule", "rows", "decoding in these chunks gives other rows than one full pass"
)


class Oracle:
    """The full pass over one sequence; what single calls give is compared with it.

    Attributes:
        tokens: the sequence.
        calls: decoder calls so far.
        closest: the largest difference that was still equal, as a finding.
        doubtful: the first difference that may be rounding or not, if there was one.
    """

    def __init__(self, decoder: Guarded, tokens: Sequence[int]) -> None:
        self.decoder, self.tokens = decoder, tuple(tokens)
        self._rows = decoder.full(self.tokens)
        self._bounds = decoder.bounds(self._rows)
        self.calls = 1
        self.closest = Finding(0.0, 0.0)
        self.doubtful: Finding | None = None

    def extend(self, start: int, stop: int, cache: Any, call: int) -> tuple[Finding, Any]:
        """Append the tokens from ``start`` to ``stop``: a violation if rows are clearly wrong."""
        rows, after = self.decoder.extend(self.tokens[start:stop], cache)
        self.calls += 1
        finding = _COMPARISON.of(
            rows, self._rows[start:stop], self._bounds[start:stop], position=start, call=call
        )
        if finding.violation is None:
            self.closest = max(self.closest, finding, key=closeness)
        elif in_doubt(self.decoder, finding):
            self.doubtful = self.doubtful or finding
            finding = Finding(finding.difference, finding.tolerance)
        return finding, after
