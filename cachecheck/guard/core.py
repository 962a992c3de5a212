"""The three functions behind a guard: every answer is checked before a law sees it.

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

_SAMPLES = (16, 8, 4)  # tokens whose rows show the precision, or 2 if the decoder fails on more


class Core:
    """``decoder`` with checked answers. Raises `DecoderError` for anything unusable.

    Raises:
        TargetError: a member is missing or declared wrongly.
    """

    limit: CallLimit | None = None  # how long a call may take; None for ever
    label = ""  # before the names of its functions in what is said of it
    rebuild: Callable[[], Self] | None = None  # another one like this, where there is a factory

    def __init__(self, decoder: Decoder) -> None:
        check_members(decoder)
        self._decoder = decoder
        self._width: int | None = None
        self.calls = 0  # of any of its functions
        self.remembered: dict[object, Any] = {}  # what was measured, once for all laws
        self._live: list[Any] = []  # caches in use, kept only where the decoder keeps accounts
        self.vocab_size = int(decoder.vocab_size)
        self.capabilities = capabilities(decoder)

    def full(self, tokens: Any) -> Rows:
        """The decoder's own full pass: (T, width), finite."""
        answer = self._call("full", np.array(tokens, np.int64))
        return self._rows(f"full({answers.tokens(len(tokens))})", answer, len(tokens))

    def new_cache(self) -> Any:
        """The decoder's empty cache."""
        cache = self._call("new_cache")
        if cache is None:
            raise DecoderError("new_cache() returned None; expected an empty cache")
        return self._born(cache)

    def extend(self, tokens: Any, cache: Any) -> tuple[Rows, Any]:
        """Rows of the new tokens, and the cache that holds them."""
        call = f"extend({answers.tokens(len(tokens))}, cache)"
        answer = self._call("extend", np.array(tokens, np.int64), cache)
        rows, after = answers.read_pair(call, answer, swapped=True)
        return self._rows(call, rows, len(tokens)), self._followed(cache, after)

    def snapshot(self, cache: Any) -> Snapshot | None:
        """The bytes of ``state(cache)``; None where the decoder offers no state."""
        if "state" not in self.capabilities.offers:
            return None
        state = self._call("state", cache)
        try:
            return tuple(answers.layer_bytes(layer) for layer in state)
        except Exception as error:  # the conversion of a foreign object may raise anything
            raise DecoderError(
                f"state(cache) returned {answers.what(state)}; expected, per layer, a mapping of "
                f"names to arrays ({answers.first_line(error)})"
            ) from error

    @cached_property
    def precision(self) -> str:
        """The precision of the rows: as declared, else what a sample of them carries."""
        return self.capabilities.dtype or precision_of(self._sample)

    @cached_property
    def doubt(self) -> float:
        """How many times its tolerance a difference may be and still be rounding, maybe."""
        undeclared = self.capabilities.dtype is None and self.precision == "float64"
        end = UNDECLARED_DOUBT if undeclared else DOUBT[self.precision]
        usual = RELATIVE[self.precision]
        promised = self.capabilities.atol
        if not promised:
            return end / usual
        # What is promised is no matter of rounding: doubt is about the rest.
        return (end * self._usual + promised) / max(usual * self._usual, promised)

    def bounds(self, rows: Rows) -> NDArray[np.float64]:
        """(T, width): how far from each entry of ``rows`` is still equal, for this decoder."""
        return bounds(rows, self.precision, usual=self._usual, atol=self.capabilities.atol)

    @cached_property
    def _usual(self) -> float:
        return typical(self._sample)

    @cached_property
    def _sample(self) -> Rows:
        """Rows of a full pass that show the decoder's precision and its typical entries."""
        most = self.capabilities.max_length or _SAMPLES[0]
        for length in _SAMPLES:
            # What goes wrong with long sequences only is for a law to find, and to make small.
            try:
                return self.full([at % self.vocab_size for at in range(min(length, most))])
            except DecoderHangsError:
                raise  # a shorter one would take as long
            except (DecoderError, Unsupported):
                continue
        return self.full([0, 1])

    def probe(self) -> None:
        """One and two tokens by both paths: meets the adapter's plain mistakes before any law.

        A decoder that has passed once is not asked again.

        Raises:
            DecoderError: an answer that is not rows and a cache, or that changes from one full
                pass to the next.
        """
        if "probed" in self.remembered:
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
        self.remembered["probed"] = True

    @contextlib.contextmanager
    def fresh(self) -> Iterator[Self]:
        """The decoder for one case: in the end every cache is released.

        One that keeps accounts is built anew, where that is possible: what a case leaks would be
        found in the next one's as well. Releasing may fail where the accounts are wrong; what the
        case itself found or raised says more.
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
        """Tell a decoder that keeps accounts that every cache still in use is done with."""
        live, self._live = self._live, []
        if "release" in self.capabilities.offers:
            for cache in live:
                self._call("release", cache)

    def _born(self, cache: Any) -> Any:
        """Note a cache that came to life."""
        if self.capabilities.offers & {"release", "check_invariants"} and not self._lives(cache):
            self._live.append(cache)
        return cache

    def _lives(self, cache: Any) -> bool:
        return any(one is cache for one in self._live)

    def _ended(self, cache: Any) -> None:
        self._live = [one for one in self._live if one is not cache]

    def _followed(self, cache: Any, after: Any) -> Any:
        """Note that ``after`` came from ``cache``, which lives on unless it is changed in place."""
        if self.capabilities.mutates_cache:
            self._ended(cache)
        return self._born(after)

    def _call(self, name: str, *arguments: Any) -> Any:
        call = self.label + answers.shown(name, arguments)
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
                f"{answers.place(error)}"
            ) from error

    def _rows(self, call: str, answer: Any, length: int) -> Rows:
        rows = answers.read_rows(call, answer, length, self._width)
        self._width = rows.shape[1]
        return rows
