"""Small decoders, right and wrong, that several tests share; also targets of the command line.

The right one is `Sums`: a row is the sum of the embeddings up to its own token, the cache holds the
sum so far. A few lines, and as causal as any transformer.
"""

from __future__ import annotations

import contextlib
import copy
import os
import signal
import time
from collections import UserList
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[Any]
VOCABULARY, WIDTH = 8, 4


class Sums:
    """A right decoder with functional caches: (sum so far, length)."""

    vocab_size: Any = VOCABULARY

    def __init__(self, seed: int = 0) -> None:
        self.embedding = np.random.default_rng(seed).normal(size=(VOCABULARY, WIDTH))

    def full(self, tokens: Any) -> Any:
        return np.cumsum(self.embedding[tokens], axis=0)

    def new_cache(self) -> Any:
        return np.zeros(WIDTH), 0

    def extend(self, tokens: Any, cache: Any) -> Any:
        past, length = cache
        rows = past + np.cumsum(self.embedding[tokens], axis=0)
        return rows, (rows[-1], length + len(tokens))


class Altered(Sums):
    """`Sums` with its answers passed through functions: most wrong adapters in one line each."""

    def __init__(
        self,
        *,
        full: Callable[[Rows], Any] = lambda rows: rows,
        extend: Callable[[Rows, Any], Any] = lambda rows, cache: (rows, cache),
        new_cache: Callable[[Any], Any] = lambda cache: cache,
        **declared: Any,
    ) -> None:
        super().__init__()
        self.alter_full, self.alter_extend, self.alter_new = full, extend, new_cache
        for name, value in declared.items():
            setattr(self, name, value)

    def full(self, tokens: Any) -> Any:
        return self.alter_full(super().full(tokens))

    def new_cache(self) -> Any:
        return self.alter_new(super().new_cache())

    def extend(self, tokens: Any, cache: Any) -> Any:
        return self.alter_extend(*super().extend(tokens, cache))


def both(alter: Callable[[Rows], Any], **declared: Any) -> Altered:
    """The same alteration of the rows on both paths."""
    return Altered(full=alter, extend=lambda rows, cache: (alter(rows), cache), **declared)


class OnDevice:
    """Like a torch tensor on a GPU: numpy cannot have it."""

    shape = (2, WIDTH)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError("can't convert cuda:0 device type tensor to numpy")


class Dropout(Sums):
    """Random rows, from a generator that no test library seeds."""

    def __init__(self) -> None:
        super().__init__()
        self.rng = np.random.default_rng()

    def full(self, tokens: Any) -> Any:
        return super().full(tokens) * self.rng.uniform(1, 1000)


class OneBuffer(Sums):
    """Every answer in the same memory, overwritten by the next call: right, if rows are copied."""

    def __init__(self) -> None:
        super().__init__()
        self.buffer = np.empty((64, WIDTH))

    def _out(self, rows: Rows) -> Rows:
        self.buffer[:] = 1e6
        self.buffer[: len(rows)] = rows
        return self.buffer[: len(rows)]

    def full(self, tokens: Any) -> Any:
        return self._out(super().full(tokens))

    def extend(self, tokens: Any, cache: Any) -> Any:
        rows, after = super().extend(tokens, cache)
        return self._out(rows), after


class WritesTokens(Sums):
    """Overwrites the tokens it is given, as an adapter that shifts them in place may."""

    def full(self, tokens: Any) -> Any:
        rows = super().full(tokens)
        tokens[:] = 0
        return rows

    def extend(self, tokens: Any, cache: Any) -> Any:
        answer = super().extend(tokens, cache)
        tokens[:] = 0
        return answer


class NanFrom5(Sums):
    """A NaN in the fifth row: nothing shorter shows it."""

    def full(self, tokens: Any) -> Any:
        rows = super().full(tokens)
        rows[4:, 0] = np.nan
        return rows


class ForgetsOffset(Sums):
    """VIOLATED by `schedule`: a chunk of two or more tokens onto history gives wrong rows."""

    def extend(self, tokens: Any, cache: Any) -> Any:
        rows, after = super().extend(tokens, cache)
        if cache[1] > 0 and len(tokens) > 1:
            rows = rows + 1
        return rows, after


class RaisesOnThird(Sums):
    """ERROR of `schedule`, with the smallest schedule ``3``."""

    def extend(self, tokens: Any, cache: Any) -> Any:
        if cache[1] + len(tokens) >= 3:
            raise RuntimeError("out of memory at 3 tokens")
        return super().extend(tokens, cache)


class Faint(Sums):
    """INCONCLUSIVE by `sensitivity`: history moves rows by less than rounding may."""

    def full(self, tokens: Any) -> Any:
        return self._rows(tokens, 0.0)

    def extend(self, tokens: Any, cache: Any) -> Any:
        past, length = cache
        after = past + self.embedding[tokens].sum(axis=0)
        return self._rows(tokens, past), (after, length + len(tokens))

    def _rows(self, tokens: Any, past: Any) -> Rows:
        own = self.embedding[tokens]
        return np.asarray(own + 1e-14 * (past + np.cumsum(own, axis=0) - own))


class Unmoved(Sums):
    """VIOLATED by `sensitivity`: rows know nothing of the tokens before them."""

    def full(self, tokens: Any) -> Any:
        return self.embedding[tokens]

    def extend(self, tokens: Any, cache: Any) -> Any:
        return self.embedding[tokens], cache


class Exits(Sums):
    """Ends its process without a word, as a crash in native code does."""

    def extend(self, tokens: Any, cache: Any) -> Any:
        if len(tokens) > 3:
            os._exit(17)
        return super().extend(tokens, cache)


class Marks(Sums):
    """Right and slow; leaves a file in the current directory once it is well at work."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def full(self, tokens: Any) -> Any:
        self.calls += 1
        time.sleep(0.002)
        if self.calls == 100:
            Path("at-work").touch()
        return super().full(tokens)


class SwallowsCtrlC(Sums):
    """Right; presses Ctrl-C itself, and loses it as a garbage collector's callback does."""

    pressed = False

    def full(self, tokens: Any) -> Any:
        if len(tokens) > 3 and not self.pressed:
            self.pressed = True
            with contextlib.suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        return super().full(tokens)


class CtrlC(ForgetsOffset):
    """`ForgetsOffset`, with Ctrl-C on call number ``stop`` of `extend`, counted in the class."""

    calls, stop = 0, 0

    def extend(self, tokens: Any, cache: Any) -> Any:
        type(self).calls += 1
        if self.calls == self.stop:
            raise KeyboardInterrupt
        return super().extend(tokens, cache)


class CtrlCLate(CtrlC):
    """The same, around an error in place of a wrong row."""

    def extend(self, tokens: Any, cache: Any) -> Any:
        answer = super().extend(tokens, cache)
        if cache[1] + len(tokens) >= 3:
            raise RuntimeError("out of memory at 3 tokens")
        return answer


class Held(UserList[Any]):
    """The cache of `Listing`: its tokens, or the rows of a batch; told apart by identity."""


class Listing(Sums):
    """Right, with every optional member. No cache is ever changed.

    Members given by name replace its own; None hides one.
    """

    def __init__(self, seed: Any = 0, **members: Any) -> None:
        super().__init__(seed)
        self.projected = 0
        for name, member in members.items():
            setattr(self, name, member)

    def new_cache(self) -> Any:
        return Held()

    def extend(self, tokens: Any, cache: Any) -> Any:
        after = [*cache, *tokens.tolist()]
        self.projected += len(tokens)
        return Sums.full(self, after)[len(cache) :], Held(after)

    def state(self, cache: Any) -> Any:
        return [{"tokens": np.array([*cache], np.int64)}]

    def fork(self, cache: Any) -> Any:
        return copy.deepcopy(cache)

    def crop(self, cache: Any, length: int) -> Any:
        return Held(cache[:length])

    def save(self, cache: Any) -> Any:
        return bytes(cache)

    def load(self, data: bytes) -> Any:
        return Held(data)

    def reset(self, cache: Any) -> Any:  # noqa: ARG002
        return Held()

    def release(self, cache: Any) -> None:
        """Nothing to do."""

    def check_invariants(self, caches: Any) -> None:
        """Nothing to check."""

    def work(self) -> Any:
        return self.projected

    def full_batch(self, arrays: Any) -> Any:
        return [self.full(tokens) for tokens in arrays]

    def new_batch_cache(self, count: int) -> Any:
        return Held([Held() for _ in range(count)])

    def extend_batch(self, arrays: Any, cache: Any) -> Any:
        pairs = [Listing.extend(self, *pair) for pair in zip(arrays, cache, strict=True)]
        return [rows for rows, _ in pairs], Held([after for _, after in pairs])

    def reorder(self, cache: Any, rows: Any) -> Any:
        return Held([cache[row] for row in rows])

    def merge(self, caches: Any) -> Any:
        return Held([row for cache in caches for row in cache])


class ListingInPlace(Listing):
    """The same with caches that are changed in place."""

    mutates_cache = True

    def extend(self, tokens: Any, cache: Any) -> Any:
        rows, cache[:] = super().extend(tokens, cache)
        return rows, cache

    def crop(self, cache: Any, length: int) -> Any:
        del cache[length:]
        return cache

    def reset(self, cache: Any) -> Any:
        cache.clear()
        return cache

    def extend_batch(self, arrays: Any, cache: Any) -> Any:
        rows, cache[:] = super().extend_batch(arrays, cache)
        return rows, cache

    def reorder(self, cache: Any, rows: Any) -> Any:
        cache[:] = super().reorder(cache, rows)
        return cache


class Doubtful(Sums):
    """INCONCLUSIVE by `schedule`: rows onto history are off by what may be rounding, or not."""

    def extend(self, tokens: Any, cache: Any) -> Any:
        rows, after = super().extend(tokens, cache)
        return rows + (1e-6 if cache[1] else 0.0), after


class Loops(Sums):
    """Hangs in Python on four tokens or more, where a signal gets through."""

    def extend(self, tokens: Any, cache: Any) -> Any:
        while len(tokens) > 3:
            pass
        return super().extend(tokens, cache)


class Sleeps(Sums):
    """Hangs on four tokens or more, as native code does: no signal gets through."""

    def extend(self, tokens: Any, cache: Any) -> Any:
        if len(tokens) > 3:
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
            time.sleep(1000)
        return super().extend(tokens, cache)
