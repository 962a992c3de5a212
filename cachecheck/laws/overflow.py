"""The law that a decoder raises past its maximum length, and does not go on with wrong rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from cachecheck.errors import DecoderHangsError, DecoderRaisedError, Unsupported
from cachecheck.guard import Guarded, NotOfferedError
from cachecheck.laws.base import Law
from cachecheck.schedule import Case
from cachecheck.verdict import Finding, Violation

_LONGEST_FILLED = 1024
"""Longest max_length of a cache that is filled to its end, which happens hundreds of times."""

_MESSAGE = (
    "max_length is {}, and a call that goes past it returns rows; an error is expected (the "
    "schedule's last call, after as many tokens as it takes to get there; or one call that long)"
)


def check(decoder: Guarded, case: Case) -> Finding:
    """Go past the end in three ways: from a full cache, across the end, and in one long call.

    A schedule's chunks but the last are fed as they are, after as many tokens as it takes, so that
    the case stays small when it is shrunk.
    """
    most = decoder.capabilities.max_length
    if most is None:
        raise NotOfferedError("max_length")
    if most > _LONGEST_FILLED:
        raise Unsupported(
            f"a max_length of {most} takes too long to fill (the limit is {_LONGEST_FILLED})"
        )
    for call_too_long in _prepared(decoder, case, most):
        try:
            call_too_long()
        except DecoderHangsError:
            raise
        except (DecoderRaisedError, Unsupported):
            continue
        broken = Violation(
            *("overflow", "no-error", None, None, 0.0, _MESSAGE.format(most)),
        )
        return Finding(0.0, 0.0, broken)
    return Finding(0.0, 0.0)


def _prepared(decoder: Guarded, case: Case, most: int) -> Iterator[Callable[[], object]]:
    """Calls that go past the end; what leads up to each has been done, and must not raise."""
    last = case.schedule.chunks[-1]
    for end in sorted({most + last, most + 1}):  # no token of the last chunk fits; all but one do
        yield _past_the_end(decoder, case, end)
    yield partial(decoder.extend, _filling(decoder, most + 1), decoder.new_cache())
    if "batch" in decoder.capabilities.offers:
        cache = decoder.new_batch_cache(1)
        _, cache = decoder.extend_batch([_filling(decoder, most)], cache)
        yield partial(decoder.extend_batch, [[0]], cache)


def _past_the_end(decoder: Guarded, case: Case, end: int) -> Callable[[], object]:
    """The case's last call where the case ends at position ``end``, the others made."""
    cache = decoder.new_cache()
    before = end - len(case.tokens)
    if before > 0:
        _, cache = decoder.extend(_filling(decoder, before), cache)
    *spans, (start, _stop) = case.schedule.spans
    for begin, stop in spans:
        _, cache = decoder.extend(case.tokens[begin:stop], cache)
    return partial(decoder.extend, case.tokens[start:], cache)


def _filling(decoder: Guarded, length: int) -> list[int]:
    return [token % decoder.vocab_size for token in range(length)]


LAW = Law(
    id="overflow",
    statement="A call that goes past max_length raises an error.",
    reason="A full buffer that clamps, wraps or drops tokens gives plausible, wrong rows.",
    not_claimed="That the cache is usable after the error.",
    check=check,
    needs=("max_length",),
    compares_rows=False,
    calls=4,
)
