"""The law that the same calls give the same rows."""

from __future__ import annotations

from cachecheck.guard import Guarded
from cachecheck.laws.base import Law, feed
from cachecheck.laws.comparison import RowComparison, gather
from cachecheck.schedule import Case
from cachecheck.verdict import Finding


def check(decoder: Guarded, case: Case) -> Finding:
    """Both passes twice over, the second time in the other order."""
    whole = decoder.full(case.tokens)
    first, _ = feed(decoder, case.tokens, case.schedule)
    second, _ = feed(decoder, case.tokens, case.schedule)
    again = decoder.full(case.tokens)
    full = RowComparison("determinism", "full", "full gives other rows the second time")
    cached = RowComparison("determinism", "cached", "the same calls on a new cache give other rows")
    findings = [full.of(again, whole, decoder.bounds(whole), position=0)]
    for call, (start, _stop) in enumerate(case.schedule.spans, start=1):
        before = first[call - 1]
        bounds = decoder.bounds(before)
        findings.append(cached.of(second[call - 1], before, bounds, position=start, call=call))
    return gather(findings)


LAW = Law(
    id="determinism",
    statement="The same calls give the same rows, whatever was done before.",
    reason="A decoder keeps its memory in the cache alone; otherwise every result depends on the "
    "calls before it.",
    not_claimed="Equality to the bit: parallel sums may round differently.",
    check=check,
)
