"""Guards against passing for nothing: conditions on a search without which HOLDS means nothing.

Every law compares one way of computing rows with another. A decoder whose rows ignore what came
before satisfies them all, and so does any decoder on cases without history.
"""

from __future__ import annotations

from collections.abc import Mapping

from cachecheck.guard import Guarded, Rows
from cachecheck.schedule.coverage import CallClass
from cachecheck.schedule.tokens import changed, tokens_of_seed
from cachecheck.tolerance import shares
from cachecheck.verdict import Code

_FEW = 6
"""Tokens of the sequence whose rows are examined."""

_ENOUGH = 20
"""Cases enough to draw a chunk on a filled cache, but for one search in a million.

More than half of the cases drawn have one.
"""


def without_history(
    covered: Mapping[CallClass, int], examples: int, *, refused: bool = False
) -> Code | None:
    """The reason why the calls made show little: none on a filled cache, or only single tokens.

    Args:
        covered: calls made, by class.
        examples: cases tried. Few may have met single tokens alone by chance,
        refused: unless the decoder refused others.
    """
    onto = {key for key in covered if key[0] != "0"}
    if not onto:
        return Code.NO_HISTORY
    if (refused or examples >= _ENOUGH) and all(chunk == "1" for _, chunk, _ in onto):
        return Code.SINGLE_TOKENS
    return None


def idle_rows_of(decoder: Guarded, *, cached: bool) -> Code | None:
    """`idle_rows`, measured once for each decoder."""
    key = ("idle", cached)
    if key not in decoder.memo:
        decoder.memo[key] = idle_rows(decoder, cached=cached)
    found: Code | None = decoder.memo[key]
    return found


def idle_rows(decoder: Guarded, *, cached: bool = True) -> Code | None:
    """The reason why ``decoder``'s rows cannot show a mistake in its cache; None if they can.

    Args:
        decoder: to be examined.
        cached: True to examine its cached calls as well, and not the full pass alone.

    Raises:
        DecoderError: the decoder raised, or gave what cannot be used.
        Unsupported: it refuses.
    """
    few = min(_FEW, decoder.capabilities.max_length or _FEW)
    tokens = tokens_of_seed(0, few, decoder.vocab_size)
    rows = decoder.full(tokens)
    moved = [_moved_rows(decoder, tokens, rows, at) for at in range(few)]
    if not any(any(each) for each in moved):
        return Code.CONSTANT_ROWS
    window = decoder.capabilities.window
    if few < 2 or window == 1:
        return None
    sources = [sum(moved[at][row] for at in range(row)) for row in range(few)]
    if max(sources) == 0:
        return Code.OWN_ROW_ALONE
    if few > 2 and window != 2 and max(sources) == 1:
        return Code.ONE_EARLIER
    return Code.IDLE_CACHE if cached and _idle_cache(decoder, tokens) else None


def _moved_rows(decoder: Guarded, tokens: tuple[int, ...], rows: Rows, at: int) -> list[bool]:
    """For each row of the full pass, True if it changes when the token at ``at`` does."""
    share = shares(
        decoder.full(changed(tokens, at, at + 1, decoder.vocab_size)), rows, decoder.bounds(rows)
    )
    return [bool(one.max() > 0) for one in share]


def _idle_cache(decoder: Guarded, tokens: tuple[int, ...]) -> bool:
    """True if no cached token changes a later call's rows."""
    last = len(tokens) - 1
    rows = []
    others = (changed(tokens, at, at + 1, decoder.vocab_size) for at in range(last))
    for before in (tokens, *others):
        _, cache = decoder.extend(before[:last], decoder.new_cache())
        rows.append(decoder.extend(tokens[last:], cache)[0])
    return all(bool((one == rows[0]).all()) for one in rows[1:])
