"""A full pass over a prefix gives the first rows of the full pass over everything."""

from __future__ import annotations

from cachecheck.guard import Guarded
from cachecheck.laws.base import Law
from cachecheck.laws.comparison import RowComparison, gather
from cachecheck.schedule import Case
from cachecheck.verdict import Finding


def check(decoder: Guarded, case: Case) -> Finding:
    """At every cut n, compare ``full(tokens[:n])`` with the first n rows of ``full(tokens)``."""
    expected = decoder.full(case.tokens)
    bounds = decoder.bounds(expected)
    comparison = RowComparison(
        "prefix",
        "length-dependence",
        "in a full pass, a row depends on how many tokens follow it",
    )
    return gather(
        [
            comparison.of(decoder.full(case.tokens[:cut]), expected[:cut], bounds[:cut], position=0)
            for cut in case.schedule.cuts
        ]
    )


LAW = Law(
    id="prefix",
    statement="A full pass over the first n tokens gives the first n rows of the full pass.",
    reason="A causal row depends on the tokens up to its own alone: not on later ones, nor on how "
    "many there are.",
    not_claimed="Anything about the cached path.",
    check=check,
    least_calls=2,
    uses_cache=False,
)
