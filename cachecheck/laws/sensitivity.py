"""The law that cached tokens matter, against decoders that pass every other law for nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cachecheck.errors import Unsupported
from cachecheck.guard import Guarded
from cachecheck.laws.base import Law, feed
from cachecheck.laws.comparison import distances
from cachecheck.schedule import Case
from cachecheck.schedule.tokens import changed
from cachecheck.verdict import Finding, Violation


def check(decoder: Guarded, case: Case) -> Finding:
    """Change the last cached token before the last call: how far do that call's rows move?

    The difference found is what should be large. One case that moves is enough, since a single
    row may rightly ignore a single token (a saturated softmax).
    """
    if decoder.capabilities.window == 1:
        raise Unsupported("with a window of 1 no row sees a cached token")
    cut = case.schedule.cuts[-1]
    other = changed(case.tokens, cut - 1, cut, decoder.vocab_size)
    rows, _ = feed(decoder, case.tokens, case.schedule)
    moved, _ = feed(decoder, other, case.schedule)
    bounds = decoder.bounds(rows[-1])
    distance, share = distances(moved[-1], rows[-1], bounds)
    most = np.unravel_index(int(np.argmax(share)), share.shape)
    return Finding(float(distance[most]), float(bounds[most]))


def unmoved(case: Case, finding: Finding) -> Finding:
    """``finding``, in which too little moved, as a violation; used where no case moved more."""
    spans = case.schedule.spans
    broken = Violation(
        law=LAW.id,
        kind="ignored",
        position=spans[-1][0],
        difference=finding.difference,
        tolerance=finding.tolerance,
        message="changing a cached token changes no later row: the cache is not used",
        call=len(spans),
        row=0,
    )
    return replace(finding, violation=broken)


LAW = Law(
    id="sensitivity",
    statement="Changing a cached token changes later rows, by more than the tolerance.",
    reason="A decoder that ignores its cache, or whose rows are constant, passes every law that "
    "compares two passes: both ignore it alike.",
    not_claimed="That every cached token, layer or head matters, or matters as it should.",
    check=check,
    least_calls=2,
    everywhere=False,
    unmoved=unmoved,
)
