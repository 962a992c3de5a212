"""The law that a cache saves work: only new tokens are projected."""

from __future__ import annotations

from cachecheck.errors import DecoderError
from cachecheck.guard import Guarded
from cachecheck.laws.base import Law
from cachecheck.schedule import Case
from cachecheck.verdict import Finding, Violation


def check(decoder: Guarded, case: Case) -> Finding:
    """Each call must project as many rows as a call of the same tokens on an empty cache."""
    decoder.need("work")
    cache = decoder.new_cache()
    largest = 0
    for call, (start, stop) in enumerate(case.schedule.spans, start=1):
        tokens = case.tokens[start:stop]
        alone = _work_of(decoder, tokens, decoder.new_cache())[0]
        done, cache = _work_of(decoder, tokens, cache)
        largest = max(largest, done - alone)
        if done > alone:
            message = (
                f"a call of {stop - start} tokens projects {done} rows after a history of {start} "
                f"tokens, and {alone} on an empty cache: the history is computed again"
            )
            broken = Violation("work", "recomputed", start, None, 0.0, message, call=call, row=0)
            return Finding(float(done - alone), 0.0, broken)
    return Finding(float(largest), 0.0)


def _work_of(decoder: Guarded, tokens: tuple[int, ...], cache: object) -> tuple[int, object]:
    before = decoder.work()
    _, after = decoder.extend(tokens, cache)
    done = decoder.work() - before
    if done < len(tokens):
        raise DecoderError(
            f"work() grew by {done} in a call of {len(tokens)} tokens; expected a count of the "
            "rows projected so far, at least one for each new token"
        )
    return done, after


LAW = Law(
    id="work",
    statement="A call projects the rows of its new tokens only, however long the history.",
    reason="A cache that is filled and not used gives right rows at the cost of having no cache.",
    not_claimed="Anything about time or memory; the count is the decoder's own.",
    check=check,
    needs=("work",),
    compares_rows=False,
    calls=2,
)
