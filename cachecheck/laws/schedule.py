"""Any partition into chunks gives the rows of the full pass: the law this package is about."""

from __future__ import annotations

from cachecheck.guard import Guarded
from cachecheck.laws.base import Law
from cachecheck.laws.comparison import RowComparison, gather
from cachecheck.schedule import Case
from cachecheck.verdict import Finding


def check(decoder: Guarded, case: Case) -> Finding:
    """Feed the tokens chunk by chunk and compare every row with ``full``."""
    expected = decoder.full(case.tokens)
    bounds = decoder.bounds(expected)
    comparison = RowComparison(
        "schedule", "rows", "decoding in these chunks gives other rows than one full pass"
    )
    findings, cache = [], decoder.new_cache()
    for call, (start, stop) in enumerate(case.schedule.spans, start=1):
        rows, cache = decoder.extend(case.tokens[start:stop], cache)
        found = comparison.of(
            rows, expected[start:stop], bounds[start:stop], position=start, call=call
        )
        findings.append(found)
        if found.violation is not None:
            break  # what follows from wrong rows says no more, and long cases take long
    return gather(findings)


LAW = Law(
    id="schedule",
    statement="Decoding in any chunks, from an empty cache, gives the rows of full(tokens).",
    reason="A cache stores what a causal pass would compute again; the cuts between calls are not "
    "part of the model.",
    not_claimed="That full itself is right: it is the decoder's own. Equality is up to rounding.",
    check=check,
    certified=True,
    implies={
        "prefix": "the pass over n tokens and the first n rows of a longer one equal the same "
        "calls",
        "causality": "with the change and without, rows before it equal a full pass over the same "
        "prefix",
        "determinism": "whenever calls are made, their rows equal the full pass",
    },
)
