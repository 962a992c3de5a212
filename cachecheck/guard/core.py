"""The three functions of a decoder behind a guard: laws see checked answers alone.

A wrong adapter must never look like a right decoder, so nothing unusable passes: each mistake
becomes one line that says what was expected, what came and what to do.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cachecheck.errors import (
    DecoderError,
    DecoderHangsError,
    DecoderRaisedError,
    Unsupported,
)
from cachecheck.guard import answers
from cachecheck.guard.answers import Rows, Snapshot
from cachecheck.guard.limit import CallLimit, CallTimeUpError
from cachecheck.guard.refusals import RefusedError
from cachecheck.protocol import Decoder, capabilities, check_members
from cachecheck.tolerance import (
    DOUBT,
    RELATIVE,
    UNDECLARED_DOUBT,
    bounds,
    precision_of,
    typical,
)

_SAMPLE_LENGTHS = (
    16,
    8,
    4,
)  # tokens whose rows show the precision, or 2 if the decoder fails on more


class GuardedCore:
    """``decoder`` with checked answers. Raises `DecoderError` for anything unusable.

    Raises:
        TargetError: a member is missing or declared wrongly.
    """

    limit: CallLimit | None = None  # on the time of a call; None for no limit
    label = ""  # stands before the names of its functions in messages
    rebuild: Callable[[], Self] | None = None  # makes another one like this; None without a factory

    def __init__(self, decoder: Decoder) -> None:
        check_members(decoder)
        self._decoder = decoder
        self._width: int | None = None
        self.calls = 0  # of any of its functions
        self.memo: dict[object, Any] = {}  # measurements, shared by all laws
        self._live: list[Any] = []  # caches in use, kept only where the decoder keeps accounts
        self.vocab_size = int(decoder.vocab_size)
        self.capabilities = capabilities(decoder)

    def full(self, tokens: Any) -> Rows:
        """The decoder's own full pass: (T, width), finite."""
        answer = self._call("full", np.array(tokens, np.int64))
        return self._rows(f"full({answers.tokens_text(len(tokens))})", answer, len(tokens))

    def new_cache(self) -> Any:
        """The decoder's empty cache."""
        cache = self._call("new_cache")
        if cache is None:
            raise DecoderError("new_cache() returned None; expected an empty cache")
        return self._track(cache)

    def extend(self, tokens: Any, cache: Any) -> tuple[Rows, Any]:
        """Rows of the new tokens, and the cache that holds them."""
        call = f"extend({answers.tokens_text(len(tokens))}, cache)"
        answer = self._call("extend", np.array(tokens, np.int64), cache)
        rows, after = answers.read_pair(call, answer, swapped=True)
        return self._rows(call, rows, len(tokens)), self._track_successor(cache, after)

    def snapshot(self, cache: Any) -> Snapshot | None:
        """The bytes of ``state(cache)``; None where the decoder offers no state."""
        if "state" not in self.capabilities.offers:
            return None
        state = self._call("state", cache)
        try:
            return tuple(answers.layer_bytes(layer) for layer in state)
        except Exception as error:  # the conversion of a foreign object may raise anything
            raise DecoderError(
                f"state(cache) returned {answers.describe(state)}; expected, per layer, a mapping "
                f"of names to arrays ({answers.first_line(error)})"
            ) from error

    @cached_property
    def precision(self) -> str:
        """The precision of the rows: as declared, else what a sample of them carries."""
        return self.capabilities.dtype or precision_of(self._sample)

    @cached_property
    def doubt(self) -> float:
        """The largest difference, in tolerances, that may still be rounding."""
        undeclared = self.capabilities.dtype is None and self.precision == "float64"
        end = UNDECLARED_DOUBT if undeclared else DOUBT[self.precision]
        usual = RELATIVE[self.precision]
        promised = self.capabilities.atol
        if not promised:
            return end / usual
        # A promised difference is not rounding: doubt is about the rest.
        return (end * self._typical_entry + promised) / max(usual * self._typical_entry, promised)

    def bounds(self, rows: Rows) -> NDArray[np.float64]:
        """(T, width): the difference from each entry of ``rows`` that still counts as equal."""
        return bounds(
            rows,
            self.precision,
            typical_entry=self._typical_entry,
            atol=self.capabilities.atol,
        )

    @cached_property
    def _typical_entry(self) -> float:
        return typical(self._sample)

    @cached_property
    def _sample(self) -> Rows:
        """Rows of a full pass that show the decoder's precision and its typical entries."""
        most = self.capabilities.max_length or _SAMPLE_LENGTHS[0]
        for length in _SAMPLE_LENGTHS:
            # A mistake in long sequences alone is for a law to find, and for the search to shrink.
            try:
                return self.full([at % self.vocab_size for at in range(min(length, most))])
            except DecoderHangsError:
                raise  # a shorter one would take as long
            except (DecoderError, Unsupported):
                continue
        return self.full([0, 1])

    def probe(self) -> None:
        """Run one and two tokens by both paths, to find an adapter's plain mistakes before any law.

        A decoder that has passed once is not run again.

        Raises:
            DecoderError: an answer that is not rows and a cache, or that changes from one full
                pass to the next.
        """
        if "probed" in self.memo:
            return
        self.full([0])
        rows = self.full([0, 1])
        _, cache = self.extend([0], self.new_cache())
        self.extend([1], cache)
        again = self.full([0, 1])
        self.release_all()
        if np.any(np.abs(again.astype(np.float64) - rows) > self.bounds(rows)):
            raise DecoderError(  # without the number, which differs from law to law
                "full gave two answers for the same 2 tokens; expected the same rows every time: "
                "switch off dropout (eval mode) and other randomness, and keep nothing from call "
                "to call outside the cache"
            )
        self.memo["probed"] = True

    @contextlib.contextmanager
    def fresh(self) -> Iterator[Self]:
        """The decoder for one case; at the end every cache is released.

        A decoder that keeps accounts is built anew, where that is possible, or the next case would
        find what this one leaks. Releasing may fail where the accounts are wrong; the error is
        dropped, since what the case itself found or raised says more.
        """
        own = self
        if self.rebuild is not None and "check_invariants" in self.capabilities.offers:
            own = self.rebuild()
            own.limit = self.limit
        try:
            yield own
        finally:
            with contextlib.suppress(DecoderError):
                own.release_all()
            if own is not self:
                self.calls += own.calls

    def release_all(self) -> None:
        """Release every cache still in use, where the decoder keeps accounts."""
        live, self._live = self._live, []
        if "release" in self.capabilities.offers:
            for cache in live:
                self._call("release", cache)

    def _track(self, cache: Any) -> Any:
        """Note that a cache is in use from now on."""
        if self.capabilities.offers & {"release", "check_invariants"} and not self._is_live(cache):
            self._live.append(cache)
        return cache

    def _is_live(self, cache: Any) -> bool:
        return any(one is cache for one in self._live)

    def _untrack(self, cache: Any) -> None:
        self._live = [one for one in self._live if one is not cache]

    def _track_successor(self, cache: Any, after: Any) -> Any:
        """Note that ``after`` is in use, and ``cache`` no longer if it is changed in place."""
        if self.capabilities.mutates_cache:
            self._untrack(cache)
        return self._track(after)

    def _call(self, name: str, *arguments: Any) -> Any:
        call = self.label + answers.describe_call(name, arguments)
        self.calls += 1
        try:
            if self.limit is None:
                return getattr(self._decoder, name)(*arguments)
            with self.limit.on():
                return getattr(self._decoder, name)(*arguments)
        except NotImplementedError as refusal:
            raise RefusedError(name, answers.first_line(refusal)) from refusal
        except CallTimeUpError as hang:
            raise DecoderHangsError(f"{call} did not return {hang}: the decoder hangs") from hang
        except (Exception, SystemExit) as error:
            raise DecoderRaisedError(
                f"{call} raised {type(error).__name__}: {answers.first_line(error)}"
                f"{answers.raised_at(error)}"
            ) from error

    def _rows(self, call: str, answer: Any, length: int) -> Rows:
        rows = answers.read_rows(call, answer, length, self._width)
        self._width = rows.shape[1]
        return rows
