"""Calls cut into other calls, and rows in shared buffers."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.controls.control import Control, factory_of
from cachecheck.reference import Cache, Config, ReferenceDecoder
from cachecheck.reference.weights import Floats, draw_weights


class InPieces(ReferenceDecoder):
    """A chunk goes through in pieces of one token."""

    size = 1

    def extend(self, tokens: Any, cache: Cache) -> tuple[Floats, Cache]:
        """The chunk's rows, piece by piece."""
        rows = []
        for start in range(0, len(tokens), self.size):
            some, cache = super().extend(tokens[start : start + self.size], cache)
            rows.append(some)  # (size, width)
        return np.concatenate(rows), cache  # (T, width)


class InThrees(InPieces):
    """A chunk goes through in pieces of three tokens."""

    size = 3


class FullInFives(ReferenceDecoder):
    """The full pass is made of cached calls of five tokens."""

    def full(self, tokens: Any) -> Floats:
        """(T,) integers -> (T, width) or (T, V)."""
        rows, cache = [], self.new_cache()
        for start in range(0, len(tokens), 5):
            some, cache = self.extend(tokens[start : start + 5], cache)
            rows.append(some)  # (5, width)
        return np.concatenate(rows)  # (T, width)


class OneBuffer(ReferenceDecoder):
    """Rows of all calls are handed out in the same buffer."""

    def __init__(self, config: Config, *, seed: int) -> None:
        super().__init__(config, seed=seed)
        self.buffer = np.empty((0, config.row_width), config.numpy_dtype)

    def full(self, tokens: Any) -> Floats:
        """(T,) integers -> (T, width) or (T, V), until the next call."""
        return self._put(super().full(tokens))

    def extend(self, tokens: Any, cache: Cache) -> tuple[Floats, Cache]:
        """The chunk's rows until the next call, and the cache."""
        rows, after = super().extend(tokens, cache)
        return self._put(rows), after

    def _put(self, rows: Floats) -> Floats:
        if len(rows) > len(self.buffer):
            self.buffer = np.empty_like(rows)
        self.buffer[: len(rows)] = rows
        return self.buffer[: len(rows)]


class Retention:
    """Linear attention that decays: the cache is one matrix, however many tokens there were."""

    def __init__(self, config: Config, *, seed: int) -> None:
        self.weights = draw_weights(config, seed)
        self.config, self.dtype, self.vocab_size = config, config.dtype, config.vocab_size
        self.decay = config.numpy_dtype.type(0.9)

    def full(self, tokens: Any) -> Floats:
        """All rows at once, through a matrix of decays: (T,) -> (T, width)."""
        x, query, key, value = self._project(tokens)  # (T, width) each
        distance = np.subtract.outer(np.arange(len(x)), np.arange(len(x)))  # (T, T)
        decay = np.where(distance >= 0, self.decay ** np.maximum(distance, 0), 0)  # (T, T)
        return np.tanh(x + (query @ key.T * decay.astype(x.dtype)) @ value)  # (T, width)

    def new_cache(self) -> Floats:
        """Nothing so far: (width, width)."""
        return np.zeros((self.config.width, self.config.width), self.config.numpy_dtype)

    def extend(self, tokens: Any, memory: Floats) -> tuple[Floats, Floats]:
        """The chunk's rows (T, width), and the memory after it (width, width)."""
        rows = []
        for x, query, key, value in zip(*self._project(tokens), strict=True):  # (width,) each
            memory = self.decay * memory + np.outer(key, value)  # (width, width)
            rows.append(np.tanh(x + query @ memory))  # (width,)
        return np.stack(rows), memory

    def state(self, memory: Floats) -> list[dict[str, Floats]]:
        """The one matrix."""
        return [{"memory": memory}]

    def _project(self, tokens: Any) -> tuple[Floats, Floats, Floats, Floats]:
        x, layer = self.weights.embedding[np.asarray(tokens)], self.weights.layers[0]  # (T, width)
        return x, x @ layer.query, x @ layer.key, x @ layer.value


_ONE_HEAD = {"width": 16, "heads": 1, "key_value_heads": 1, "head_width": 16, "output": "hidden"}

CALLS = (
    Control(
        "token-by-token",
        "A chunk is never attended as a chunk.",
        "Its tokens go through one after another, in order.",
        factory_of(InPieces),
    ),
    Control(
        "chunks-of-three",
        "A chunk is cut into smaller ones that nobody asked for.",
        "Rows do not depend on how tokens are cut into calls.",
        factory_of(InThrees),
    ),
    Control(
        "full-in-fives",
        "The full pass uses a cache.",
        "The cache is right, so that this full pass is as good as any.",
        factory_of(FullInFives),
    ),
    Control(
        "one-buffer-for-rows",
        "Rows that were returned change at the next call.",
        "They are read before it, and the cache does not hold them.",
        factory_of(OneBuffer),
    ),
    Control(
        "constant-memory",
        "The cache does not grow with the tokens.",
        "Decaying linear attention needs one matrix, whatever the history.",
        factory_of(Retention, **_ONE_HEAD),
    ),
)
