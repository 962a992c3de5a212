"""The law that later tokens do not reach earlier rows."""

from __future__ import annotations

from collections.abc import Iterator

from cachecheck.guard import Guarded
from cachecheck.laws.base import Law, feed
from cachecheck.laws.comparison import RowComparison, gather
from cachecheck.schedule import Case
from cachecheck.schedule.tokens import changed
from cachecheck.verdict import Finding


def check(decoder: Guarded, case: Case) -> Finding:
    """Change later tokens: rows before them must stay, in a full pass and within a cached call."""
    nothing = Finding(0.0, 0.0)  # where a case is a single token
    return gather([*_in_full(decoder, case), *_in_last_call(decoder, case), nothing])


def _in_full(decoder: Guarded, case: Case) -> Iterator[Finding]:
    """At every cut, change all tokens from it on."""
    expected = decoder.full(case.tokens)
    bounds = decoder.bounds(expected)
    comparison = RowComparison(
        "causality", "future-leak", "in a full pass, a row changes when only later tokens change"
    )
    for cut in case.schedule.cuts:
        later = changed(case.tokens, cut, len(case.tokens), decoder.vocab_size)
        rows = decoder.full(later)
        yield comparison.of(rows[:cut], expected[:cut], bounds[:cut], position=0)


def _in_last_call(decoder: Guarded, case: Case) -> Iterator[Finding]:
    """Change the last token of the last call, if that has others before it.

    One call is enough: other cases end with other calls. It needs no fork.
    """
    *_, (start, stop) = case.schedule.spans
    if stop - start < 2:
        return
    later = changed(case.tokens, stop - 1, stop, decoder.vocab_size)
    due = feed(decoder, case.tokens, case.schedule)[0][-1][:-1]
    rows = feed(decoder, later, case.schedule)[0][-1][:-1]
    comparison = RowComparison(
        "causality", "chunk-leak", "in a cached call, a row changes when only later tokens change"
    )
    call = len(case.schedule.spans)
    yield comparison.of(rows, due, decoder.bounds(due), position=start, call=call)


LAW = Law(
    id="causality",
    statement="Changing later tokens does not change the rows before them, in a full pass or "
    "within a cached call.",
    reason="A cache keeps rows that were computed before the later tokens existed.",
    not_claimed="That rows see all that they should: a row that sees too little passes.",
    check=check,
    exact=True,
)
