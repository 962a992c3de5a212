"""Strategies for sequences of tokens and for the calls they are fed in."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument
from hypothesis.strategies import SearchStrategy

from cachecheck.strategies._validation import check_integer, check_interval


def seeds(*, min_value: int = 0, max_value: int = 2**32 - 1) -> SearchStrategy[int]:
    """Returns a strategy which generates seeds for `numpy.random.default_rng` and the like.

    * ``min_value`` and ``max_value`` bound the seed, both included.

    Examples from this strategy shrink towards ``min_value``.

    .. code-block:: pycon

        >>> seeds().example()
        0
        >>> seeds().example()
        2795467021
        >>> seeds(max_value=9).example()
        4
    """
    check_interval("min_value", min_value, "max_value", max_value, least=0)
    return st.integers(min_value, max_value)


def lengths(
    *, min_value: int = 1, max_value: int = 24, window: int | None = None
) -> SearchStrategy[int]:
    """Returns a strategy which generates lengths of sequences, counted in tokens.

    * ``min_value`` and ``max_value`` bound the length, both included.
    * ``window``, where given, makes the lengths at which windows go wrong common: W-1, W, W+1 and
      2W together come up at least half of the time, as far as they lie within the bounds.

    Examples from this strategy shrink towards ``min_value``.

    .. code-block:: pycon

        >>> lengths().example()
        17
        >>> lengths(window=4).example()
        5
        >>> lengths(min_value=2, max_value=8, window=6).example()
        7
    """
    check_interval("min_value", min_value, "max_value", max_value, least=1)
    if window is None:
        return st.integers(min_value, max_value)
    check_integer("window", window, least=1)
    around = sorted({window - 1, window, window + 1, 2 * window})
    around = [length for length in around if min_value <= length <= max_value]
    if not around:
        return st.integers(min_value, max_value)
    # One draw whose upper half stands for the lengths around the window: a single integer shrinks
    # straight into the plain lengths, where a choice between two strategies could get stuck.
    plain = max_value - min_value + 1

    def length(number: int) -> int:
        return min_value + number if number < plain else around[(number - plain) % len(around)]

    return st.integers(0, 2 * plain - 1).map(length)


def token_ids(
    vocab_size: int, *, min_size: int = 1, max_size: int = 24
) -> SearchStrategy[tuple[int, ...]]:
    """Returns a strategy which generates sequences of token IDs, as tuples of integers.

    * ``vocab_size`` is V: IDs lie in ``range(vocab_size)``.
    * ``min_size`` and ``max_size`` bound the length, both included; equal ones fix it.

    Examples from this strategy shrink towards few tokens, each of them 0.

    .. code-block:: pycon

        >>> token_ids(32).example()
        (19, 4, 4)
        >>> token_ids(2, min_size=4).example()
        (0, 1, 1, 0, 1, 0)
        >>> token_ids(100, min_size=3, max_size=3).example()
        (61, 0, 8)
    """
    check_integer("vocab_size", vocab_size, least=1)
    check_interval("min_size", min_size, "max_size", max_size, least=1)
    ids = st.integers(0, vocab_size - 1)
    return st.lists(ids, min_size=min_size, max_size=max_size).map(tuple)


def chunk_partitions(
    length: int, *, min_chunks: int = 1, max_chunks: int | None = None
) -> SearchStrategy[tuple[int, ...]]:
    """Returns a strategy which generates ways to cut a sequence into chunks, as tuples of sizes.

    * ``length`` is what the sizes add up to.
    * ``min_chunks`` and ``max_chunks`` bound the number of chunks, both included; ``max_chunks`` is
      ``length`` when None (every token by itself).

    Most chunks after the first hold several tokens, and chunks longer than all that came before
    them are common: single tokens hide the faults that these show.

    Examples from this strategy shrink towards fewer chunks (neighbours are merged), then towards
    early cuts: ``(length,)`` first, then ``(1, length - 1)``.

    .. code-block:: pycon

        >>> chunk_partitions(24).example()
        (2, 11, 3, 8)
        >>> chunk_partitions(24).example()
        (24,)
        >>> chunk_partitions(6, min_chunks=2).example()
        (1, 4, 1)
    """
    check_integer("length", length, least=1)
    most = length if max_chunks is None else max_chunks
    check_interval("min_chunks", min_chunks, "max_chunks", most, least=1)
    if min_chunks > length:
        raise InvalidArgument(f"{length} tokens cannot make {min_chunks} chunks; lower min_chunks")
    if length == 1:
        return st.just((1,))
    fewest, most = min_chunks - 1, min(most, length) - 1

    # The cuts themselves are drawn, so that deleting one draw merges two chunks. Left alone, sets
    # come out either empty or, over a short range, nearly full (single tokens): hence a limit.
    def cuts(limit: int) -> SearchStrategy[set[int]]:
        low = max(fewest, min(limit, most, 1))
        high = max(low, min(limit, most))
        return st.sets(st.integers(1, length - 1), min_size=low, max_size=high)

    few = max(1, length // 3)
    limits = [0, *(min(limit, few) for limit in (1, 1, 2, 2, 3, 4)), length]

    def sizes(drawn: set[int]) -> tuple[int, ...]:
        edges = [0, *sorted(drawn), length]
        return tuple(stop - start for start, stop in pairwise(edges))

    return st.sampled_from(limits).flatmap(cuts).map(sizes)


def windows(*, min_value: int = 1, max_value: int = 8) -> SearchStrategy[int]:
    """Returns a strategy which generates sizes of sliding windows, the row itself included.

    * ``min_value`` and ``max_value`` bound the window, both included. Small windows are crossed
      often; a window that no sequence reaches tests nothing.

    Examples from this strategy shrink towards ``min_value``.

    .. code-block:: pycon

        >>> windows().example()
        3
        >>> windows(max_value=2).example()
        1
        >>> windows(min_value=4).example()
        8
    """
    check_interval("min_value", min_value, "max_value", max_value, least=1)
    return st.integers(min_value, max_value)
