"""Any partition into chunks gives the rows of the full pass: the law this package is about."""

from __future__ import annotations

from cachecheck.guard import Guarded
from cachecheck.laws.base import Comparison, Law, feed, gather
from cachecheck.schedule import Case
from cachecheck.verdict import Finding


def check(decoder: Guarded, case: Case) -> Finding:
    """Feed the tokens chunk by chunk and compare every row with ``full``."""
    expected = decoder.full(case.tokens)
    bounds = decoder.bounds(expected)
    comparison = Comparison(
        "schedule", "rows", "decoding in these chunks gives other rows than one full pass"
    )
    rows, _ = feed(decoder, case.tokens, case.schedule)
    return gather(
        [
            comparison.of(some, expected[start:stop], bounds[start:stop], position=start, call=call)
            for call, (some, (start, stop)) in enumerate(
                zip(rows, case.schedule.spans, strict=True), start=1
            )
        ]
    )


LAW = Law(
    id="schedule",
    statement="Decoding in any chunks, from an empty cache, gives the rows of full(tokens).",
    reason="A cache stores what a causal pass would compute again; how the tokens were cut into "
    "calls is no part of the model.",
    not_claimed="That full itself is right: it is the decoder's own. Equality is within rounding.",
    check=check,
)
