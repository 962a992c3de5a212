"""What a call does stays in the cache it returns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cachecheck.guard import Guarded
from cachecheck.laws.base import Comparison, Law, changed, feed, gather
from cachecheck.schedule import Case, Schedule
from cachecheck.verdict import Finding, Violation

_HINT = "; declare mutates_cache = True if extend is meant to change the cache it is given"


def check(decoder: Guarded, case: Case) -> Finding:
    """Decode twice, once undisturbed and once with other work in between: the rows must agree.

    The decoder is compared with itself, so that a wrong mask, which `schedule` reports, is no
    reason to report it here.
    """
    if decoder.capabilities.mutates_cache:
        return _two_caches(decoder, case)
    return _one_cache_used_twice(decoder, case)


def _one_cache_used_twice(decoder: Guarded, case: Case) -> Finding:
    """Functional caches: extend each one with other tokens first, then go on from it."""
    others = changed(case.tokens, 0, len(case.tokens), decoder.vocab_size)
    expected, _ = feed(decoder, case.tokens, case.schedule)
    reused = Comparison(
        "frame",
        "input-changed",
        f"extending a cache changed it: going on from it again gives other rows{_HINT}",
    )
    findings = []
    cache = branch = decoder.new_cache()
    for call, (start, stop) in enumerate(case.schedule.spans, start=1):
        before = decoder.snapshot(cache)
        decoder.full(others[:stop])  # a full pass in between must leave no trace either
        _, branch = decoder.extend(others[start:stop], cache)
        if decoder.snapshot(cache) != before:
            findings.append(_bytes_changed(call, _HINT))
        rows, cache = decoder.extend(case.tokens[start:stop], cache)
        undisturbed = expected[call - 1]
        bounds = decoder.bounds(undisturbed)
        findings.append(reused.of(rows, undisturbed, bounds, position=start, call=call))
    return gather([*findings, *_branch(decoder, case, branch, others)])


def _branch(
    decoder: Guarded, case: Case, branch: object, others: Sequence[int]
) -> Iterator[Finding]:
    """The branch left at the last call goes on by one token, as if its sibling had not been."""
    start = case.schedule.spans[-1][0]
    tokens = [*case.tokens[:start], *others[start:], 0]
    longer = Schedule((*case.schedule.chunks, 1))
    if not _has_room(decoder, longer.length):
        return
    alone, _ = feed(decoder, tokens, longer)
    rows, _ = decoder.extend([0], branch)
    comparison = Comparison(
        "frame",
        "branches-share",
        "two caches extended from the same one share memory: a branch sees its sibling's tokens",
    )
    bounds = decoder.bounds(alone[-1])
    call = len(longer.chunks)
    yield comparison.of(rows, alone[-1], bounds, position=len(case.tokens), call=call)


def _two_caches(decoder: Guarded, case: Case) -> Finding:
    """Caches changed in place: two of them, filled in turn, must not see each other."""
    others = changed(case.tokens, 0, len(case.tokens), decoder.vocab_size)
    expected, _ = feed(decoder, case.tokens, case.schedule)
    comparison = Comparison(
        "frame",
        "caches-share",
        "two caches share memory: filling one changes the rows of the other",
    )
    findings = []
    cache, other = decoder.new_cache(), decoder.new_cache()
    for call, (start, stop) in enumerate(case.schedule.spans, start=1):
        before = decoder.snapshot(cache)
        decoder.full(others[:stop])
        _, other = decoder.extend(others[start:stop], other)
        if decoder.snapshot(cache) != before:
            findings.append(_bytes_changed(call))
        rows, cache = decoder.extend(case.tokens[start:stop], cache)
        undisturbed = expected[call - 1]
        bounds = decoder.bounds(undisturbed)
        findings.append(comparison.of(rows, undisturbed, bounds, position=start, call=call))
    return gather(findings)


def _bytes_changed(call: int, hint: str = "") -> Finding:
    message = f"a call changed the bytes of a cache that it should leave as it was{hint}"
    return Finding(0.0, 0.0, Violation("frame", "bytes", None, None, 0.0, message, call=call))


def _has_room(decoder: Guarded, length: int) -> bool:
    most = decoder.capabilities.max_length
    return most is None or length <= most


LAW = Law(
    id="frame",
    statement="Extending a cache changes no other live cache, nor itself unless mutates_cache.",
    reason="Branches, retries and other requests go on from caches that somebody else extends.",
    not_claimed="Without state(cache), only changes that some later row shows are seen. Caches "
    "changed in place (mutates_cache) are checked against each other alone.",
    check=check,
)
