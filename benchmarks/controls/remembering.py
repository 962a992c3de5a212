"""Caches that keep their tokens, and compute keys and values again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.controls.control import Control, factory_of
from benchmarks.controls.handles import WrapsReference
from cachecheck.reference import Cache, ReferenceDecoder
from cachecheck.reference.cache import LayerState
from cachecheck.reference.weights import Floats


@dataclass(frozen=True, eq=False)
class TokensAndCache:
    """A cache and the tokens in it."""

    tokens: tuple[int, ...]
    cache: Cache


class SavesTokens(WrapsReference):
    """Remembers tokens beside keys and values, and saves the tokens alone."""

    def new_cache(self) -> TokensAndCache:
        """No tokens."""
        return TokensAndCache((), self.inner.new_cache())

    def extend(self, tokens: Any, remembered: TokensAndCache) -> tuple[Floats, TokensAndCache]:
        """The chunk's rows, and the memory that holds it too."""
        rows, after = self.inner.extend(tokens, remembered.cache)
        return rows, TokensAndCache((*remembered.tokens, *map(int, tokens)), after)

    def state(self, remembered: TokensAndCache) -> list[LayerState]:
        """Per layer, the arrays by name."""
        return remembered.cache.state()

    def save(self, remembered: TokensAndCache) -> bytes:
        """The tokens."""
        return np.array(remembered.tokens, np.int64).tobytes()

    def load(self, data: bytes) -> TokensAndCache:
        """Keys and values computed again, in one call."""
        return self.recomputed(np.frombuffer(data, np.int64).tolist())

    def recomputed(self, tokens: Any) -> TokensAndCache:
        """A memory of ``tokens``, from nothing."""
        return self.extend(tokens, self.new_cache())[1] if len(tokens) else self.new_cache()


class RollsBackAgain(SavesTokens):
    """Rolls back by computing the first tokens again, past any window."""

    def crop(self, remembered: TokensAndCache, length: int) -> TokensAndCache:
        """The first ``length`` tokens alone."""
        return self.recomputed(remembered.tokens[:length])


class LongChunksAgain(SavesTokens):
    """Chunks of four tokens and more drop the cache and compute everything again."""

    def extend(self, tokens: Any, remembered: TokensAndCache) -> tuple[Floats, TokensAndCache]:
        """The chunk's rows, and the memory that holds it too."""
        if len(tokens) < 4:
            return super().extend(tokens, remembered)
        whole = [*remembered.tokens, *map(int, tokens)]
        rows, after = super().extend(whole, self.new_cache())
        return rows[len(remembered.tokens) :], after


class TokensAlone(WrapsReference):
    """The cache is the tokens, and every call a full pass: slow, and right."""

    def new_cache(self) -> tuple[int, ...]:
        """No tokens."""
        return ()

    def extend(self, tokens: Any, past: tuple[int, ...]) -> tuple[Floats, tuple[int, ...]]:
        """The chunk's rows, and all tokens so far."""
        whole = (*past, *map(int, tokens))
        return self.full(whole)[len(past) :], whole

    def crop(self, past: tuple[int, ...], length: int) -> tuple[int, ...]:
        """The first ``length`` tokens."""
        return past[:length]


class SavesDifferently(ReferenceDecoder):
    """Numbers what it saves, so that no two archives are equal."""

    saved = 0

    def save(self, cache: Cache) -> bytes:
        """A number of 8 bytes, then the archive."""
        self.saved += 1
        return self.saved.to_bytes(8, "big") + super().save(cache)

    def load(self, data: bytes) -> Cache:
        """The cache behind the number."""
        return super().load(data[8:])


REMEMBERING = (
    Control(
        "saves-tokens-alone",
        "What is saved has neither keys nor values in it.",
        "They are computed again from the tokens as it is loaded.",
        factory_of(SavesTokens),
    ),
    Control(
        "saves-differently-each-time",
        "Saving the same cache twice gives other bytes.",
        "A serial number is part of the bytes and is not read.",
        factory_of(SavesDifferently),
    ),
    Control(
        "rolls-back-past-the-window",
        "A rollback to tokens whose keys the window has evicted is not refused.",
        "The tokens are kept, and evicted keys and values are computed again.",
        factory_of(RollsBackAgain, window=4, sinks=0),
    ),
    Control(
        "long-chunks-computed-again",
        "A chunk of four tokens or more does not use the cache.",
        "It computes the whole history again, and does not promise otherwise by a count of work.",
        factory_of(LongChunksAgain),
    ),
    Control(
        "tokens-alone",
        "There are no keys or values in the cache at all.",
        "It holds the tokens, and every call is a full pass; work is not counted.",
        factory_of(TokensAlone),
    ),
)
