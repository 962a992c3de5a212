"""Later tokens don't reach earlier rows."""

from __future__ import annotations

from cachecheck.guard import Guarded
from cachecheck.laws.base import Comparison, Law, changed, gather
from cachecheck.schedule import Case
from cachecheck.verdict import Finding


def check(decoder: Guarded, case: Case) -> Finding:
    """At every cut, change all tokens from it on: the rows before it must stay."""
    expected = decoder.full(case.tokens)
    bounds = decoder.bounds(expected)
    comparison = Comparison(
        "causality", "future-leak", "full: a row moves when only tokens after it change"
    )
    findings = []
    for cut in case.schedule.cuts:
        later = changed(case.tokens, cut, len(case.tokens), decoder.vocab_size)
        rows = decoder.full(later)
        findings.append(comparison.of(rows[:cut], expected[:cut], bounds[:cut], position=0))
    return gather(findings)


LAW = Law(
    id="causality",
    statement="Changing later tokens leaves the rows of a full pass before them as they were.",
    reason="A cache keeps rows that were computed before the later tokens existed.",
    not_claimed="Nothing about the cached path: that its chunks are causal follows from schedule.",
    check=check,
    least_calls=2,
)
