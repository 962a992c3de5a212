"""Designs of other projects' cache tests: their calls, comparisons and tolerances.

A design here is the order of calls, the comparison and the tolerance; the code is ours alone. Every
attempt has tokens of its own, and every second one a decoder of its own. That flatters tests that
in truth try one model and one prompt every time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from random import Random

import numpy as np

from cachecheck.guard import Guarded, Rows

LENGTH = 24
"""Tokens of the designs without a length of their own; ours draws up to as many."""

_NEAR_TIE = 2e-3
_CLOSE = 1e-5
_MEANS = 1e-4

Attempt = Callable[[Guarded, Random], bool]
"""Tries a decoder once, with random tokens; True where the test would fail."""


@dataclass(frozen=True)
class Design:
    """One way of testing a cache.

    Attributes:
        id: in kebab-case.
        description: its calls and its comparison, in a line.
        attempt: one repetition.
    """

    id: str
    description: str
    attempt: Attempt


def chunks_against_full(chunks: Sequence[int], decoder: Guarded, rng: Random) -> bool:
    """Random tokens in these chunks, every row compared with one full pass."""
    sizes = clip_chunks(chunks, decoder.capabilities.max_length)
    tokens = random_tokens(rng, sum(sizes), decoder)
    rows, cache = [], decoder.new_cache()
    for start, stop in pairwise([0, *accumulate(sizes)]):
        some, cache = decoder.extend(tokens[start:stop], cache)
        rows.append(some)
    return rows_differ(decoder, np.concatenate(rows), decoder.full(tokens))


def generate_then_full(decoder: Guarded, rng: Random) -> bool:
    """A prompt of 8 and 16 greedy tokens through the cache, then one full pass over all of them."""
    prompt, count = _prompt(decoder, rng, 8, 16)
    tokens, rows = _greedy(decoder, prompt, count)
    return rows_differ(decoder, rows, decoder.full(tokens[:-1]))


def continue_from_past(decoder: Guarded, rng: Random) -> bool:
    """Four greedy tokens at once, and three and then one more from the cache they left."""
    prompt, count = _prompt(decoder, rng, 7, 4)
    tokens, rows = _greedy(decoder, prompt, count)
    again, earlier = _greedy(decoder, prompt, count)  # to stop and go on makes the same calls
    return tokens != again or not np.allclose(rows, earlier, rtol=_CLOSE, atol=_CLOSE)


def greedy_against_uncached(decoder: Guarded, rng: Random) -> bool:
    """Greedy decoding with and without the cache, scores at 1e-5; a near tie ends the comparison.

    Where two scores are that close, both arms may rightly go on with different tokens.
    """
    prompt, count = _prompt(decoder, rng, 7, 12)
    tokens, rows = _greedy(decoder, prompt, count)
    others, scores = _without_cache(decoder, prompt, count)
    for step, expected in enumerate(scores):
        if not np.allclose(rows[len(prompt) - 1 + step], expected, rtol=_CLOSE, atol=_CLOSE):
            return True
        second, first = np.sort(expected)[-2:] if expected.size > 1 else (0.0, np.inf)
        if first - second <= _NEAR_TIE:
            return False
        if tokens[len(prompt) + step] != others[len(prompt) + step]:
            return True
    return False


def argmax_20(decoder: Guarded, rng: Random) -> bool:
    """A prompt of 5 and 20 greedy tokens with and without the cache, which must be the same."""
    prompt, count = _prompt(decoder, rng, 5, 20)
    return _greedy(decoder, prompt, count)[0] != _without_cache(decoder, prompt, count)[0]


def mean_of_prefill(decoder: Guarded, rng: Random) -> bool:
    """All tokens in one call: the mean over all rows must be that of the full pass."""
    most = decoder.capabilities.max_length or LENGTH
    tokens = random_tokens(rng, min(LENGTH, most), decoder)
    rows, _ = decoder.extend(tokens, decoder.new_cache())
    return bool(abs(rows.mean() - decoder.full(tokens).mean()) > _MEANS)


def rows_differ(decoder: Guarded, rows: Rows, expected: Rows) -> bool:
    """True if some entry is further off than rounding, by the decoder's own bounds."""
    distance = np.abs(rows.astype(np.float64) - expected.astype(np.float64))
    return bool(np.any(distance > decoder.bounds(expected)))


def clip_chunks(chunks: Sequence[int], most: int | None) -> list[int]:
    """The chunks as far as there is room for them."""
    room = sum(chunks) if most is None else most
    clipped = []
    for size in chunks:
        taken = min(size, room)
        room -= taken
        if taken:
            clipped.append(taken)
    return clipped


def random_tokens(rng: Random, count: int, decoder: Guarded) -> list[int]:
    """Any tokens."""
    return [rng.randrange(decoder.vocab_size) for _ in range(count)]


def _prompt(decoder: Guarded, rng: Random, length: int, count: int) -> tuple[list[int], int]:
    """A prompt, and how many tokens can be generated after it: the last one is not fed."""
    sizes = clip_chunks([length, count - 1], decoder.capabilities.max_length)
    return random_tokens(rng, sizes[0], decoder), 1 + sum(sizes[1:])


def _greedy(decoder: Guarded, prompt: Sequence[int], count: int) -> tuple[list[int], Rows]:
    """The prompt and ``count`` greedy tokens, and the cached rows of all but the last of them."""
    tokens = list(prompt)
    some, cache = decoder.extend(tokens, decoder.new_cache())
    rows = [some]
    tokens.append(_best(decoder, some))
    for _ in range(count - 1):
        some, cache = decoder.extend(tokens[-1:], cache)
        rows.append(some)
        tokens.append(_best(decoder, some))
    return tokens, np.concatenate(rows)


def _without_cache(
    decoder: Guarded, prompt: Sequence[int], count: int
) -> tuple[list[int], list[Rows]]:
    """The same by a full pass for every token, and the row that each was picked from."""
    tokens, scores = list(prompt), []
    for _ in range(count):
        rows = decoder.full(tokens)
        scores.append(rows[-1])
        tokens.append(_best(decoder, rows))
    return tokens, scores


def _best(decoder: Guarded, rows: Rows) -> int:
    """The index of the largest entry of the last row, also where rows are not logits."""
    return int(np.argmax(rows[-1])) % decoder.vocab_size


def _fixed(name: str, calls: str, chunks: Sequence[int]) -> Design:
    return Design(
        name, f"{calls}, every row against one full pass", partial(chunks_against_full, chunks)
    )


PEERS = (
    Design(
        "generate-then-full",
        "prompt of 8, 16 greedy tokens with the cache, every row against one full pass",
        generate_then_full,
    ),
    Design(
        "continue-from-past",
        "prompt of 7, 3 + 1 greedy tokens against 4, both with the cache, at 1e-5",
        continue_from_past,
    ),
    Design(
        "greedy-against-uncached",
        "prompt of 7, 12 greedy tokens with and without the cache, scores at 1e-5 up to a near tie",
        greedy_against_uncached,
    ),
    Design("argmax-20", "prompt of 5, 20 greedy tokens with and without the cache, ids", argmax_20),
    Design(
        "mean-of-prefill",
        f"one call of {LENGTH} tokens, means of all rows at 1e-4",
        mean_of_prefill,
    ),
    _fixed("single-tokens", f"{LENGTH} calls of one token", [1] * LENGTH),
    _fixed("prefill-and-one", f"{LENGTH - 1} tokens and one more", [LENGTH - 1, 1]),
    _fixed("two-halves", "12 + 12 tokens", [12, 12]),
    _fixed("chunks-of-4", "chunks of 4 tokens", [4] * 6),
    _fixed("chunks-of-16", "16 + 16 tokens", [16, 16]),
    _fixed("frozen-case", "5 + 3 + 7 + 9 tokens", [5, 3, 7, 9]),
)
"""One repetition each; `benchmarks.peers` repeats them until their calls are spent."""
