"""The law that a call changes nothing but the cache it returns."""

from __future__ import annotations

from collections.abc import Iterator

from cachecheck.guard import Guarded
from cachecheck.laws.base import Law, feed
from cachecheck.laws.comparison import RowComparison, gather
from cachecheck.schedule import Case, Schedule
from cachecheck.schedule.tokens import changed
from cachecheck.verdict import Finding, Violation

_HINT = "; declare mutates_cache = True if extend is meant to change the cache it is given"


def check(decoder: Guarded, case: Case) -> Finding:
    """Decode undisturbed, then with other work in between: the rows must agree.

    The decoder is compared with itself, so that a wrong mask, which `schedule` reports, is not
    reported here as well.
    """
    findings = list(_two_caches(decoder, case))
    if not decoder.capabilities.mutates_cache:
        findings += _one_cache_used_again(decoder, case)
    return gather(findings)


def _two_caches(decoder: Guarded, case: Case) -> Iterator[Finding]:
    """Two caches filled in turn, at different paces, while others come and go."""
    others = _other_tokens(decoder, case)
    backwards = Schedule.of(case.schedule.chunks[::-1])
    expected, _ = feed(decoder, case.tokens, case.schedule)
    expected_others, _ = feed(decoder, others, backwards)
    comparison = RowComparison(
        "frame", "caches-share", "two caches share memory: filling one changes the other's rows"
    )
    cache, other = decoder.new_cache(), decoder.new_cache()
    spans = zip(case.schedule.spans, backwards.spans, strict=True)
    for call, ((start, stop), (other_start, other_stop)) in enumerate(spans, start=1):
        before = decoder.snapshot(cache)
        decoder.extend(others[:1], decoder.new_cache())
        decoder.full(others[:stop])  # last: what it disturbs, a new cache might put right again
        rows, other = decoder.extend(others[other_start:other_stop], other)
        if decoder.snapshot(cache) != before:
            yield _bytes_changed(call)
        alone = expected_others[call - 1]
        bounds = decoder.bounds(alone)
        yield comparison.of(rows, alone, bounds, position=other_start, call=call)
        rows, cache = decoder.extend(case.tokens[start:stop], cache)
        alone = expected[call - 1]
        yield comparison.of(rows, alone, decoder.bounds(alone), position=start, call=call)


def _one_cache_used_again(decoder: Guarded, case: Case) -> Iterator[Finding]:
    """Unchanging caches: extend each with other tokens, with its own, and once more later."""
    others = _other_tokens(decoder, case)
    expected, _ = feed(decoder, case.tokens, case.schedule)
    reused = RowComparison(
        "frame",
        "input-changed",
        f"extending a cache changed it: extending it again gives other rows{_HINT}",
    )

    def again(call: int, cache: object) -> tuple[Finding, object]:
        start, stop = case.schedule.spans[call - 1]
        rows, after = decoder.extend(case.tokens[start:stop], cache)
        alone = expected[call - 1]
        found = reused.of(rows, alone, decoder.bounds(alone), position=start, call=call)
        return found, after

    caches = []
    cache = decoder.new_cache()
    for call, (start, stop) in enumerate(case.schedule.spans, start=1):
        before = decoder.snapshot(cache)
        decoder.extend(others[start:stop], cache)
        if decoder.snapshot(cache) != before:
            yield _bytes_changed(call, _HINT)
        caches.append(cache)
        found, cache = again(call, cache)
        yield found
    start, stop = case.schedule.spans[-1]
    _, branch = decoder.extend(others[start:stop], caches[-1])  # a third child, beside the second
    yield from _branches(decoder, case, cache, branch)
    for call, old in enumerate(caches, start=1):
        yield again(call, old)[0]


def _branches(decoder: Guarded, case: Case, cache: object, branch: object) -> Iterator[Finding]:
    """Both caches extended from the same one at the last call go on in turn, a token each time."""
    start, length = case.schedule.spans[-1][0], len(case.tokens)
    most = decoder.capabilities.max_length
    more = 2 if most is None else min(2, most - length)
    longer = Schedule.of((*case.schedule.chunks, *[1] * more))
    others = [*case.tokens[:start], *_other_tokens(decoder, case)[start:]]
    alone, _ = feed(decoder, [*case.tokens, *[0] * more], longer)
    others_alone, _ = feed(decoder, [*others, *[0] * more], longer)
    comparison = RowComparison(
        "frame",
        "branches-share",
        "two caches extended from the same one share memory: a branch sees its sibling's tokens "
        "(at one of the two single tokens fed after the schedule)",
    )
    for step in range(more):
        call = len(case.schedule.chunks) + step + 1
        rows, branch = decoder.extend([0], branch)
        due = others_alone[call - 1]
        yield comparison.of(rows, due, decoder.bounds(due), position=length + step, call=call)
        rows, cache = decoder.extend([0], cache)
        due = alone[call - 1]
        yield comparison.of(rows, due, decoder.bounds(due), position=length + step, call=call)


def _other_tokens(decoder: Guarded, case: Case) -> list[int]:
    """Other tokens at every position."""
    return changed(case.tokens, 0, len(case.tokens), decoder.vocab_size)


def _bytes_changed(call: int, hint: str = "") -> Finding:
    message = f"a call changed the bytes of a cache that it should not change{hint}"
    return Finding(0.0, 0.0, Violation("frame", "bytes", None, None, 0.0, message, call=call))


LAW = Law(
    id="frame",
    statement="Extending a cache changes no other live cache, and not the cache itself unless "
    "mutates_cache is declared.",
    reason="Branches, retries and other requests continue from caches that another call extends.",
    not_claimed="Without state(cache): changes that no later row shows. Caches that are changed in "
    "place (mutates_cache) are only checked against each other.",
    check=check,
    calls=4,
)
