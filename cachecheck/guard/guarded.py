"""The optional members of a decoder behind the same guard."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from cachecheck.errors import DecoderError, DecoderRaisedError, TargetError, Unsupported
from cachecheck.guard import answers
from cachecheck.guard.answers import Rows
from cachecheck.guard.core import GuardedCore
from cachecheck.guard.refusals import NotOfferedError
from cachecheck.members import CAPABILITIES

_SAME = 0.25
"""Share of the largest entry by which two tokens' rows may differ between two precisions."""


class Guarded(GuardedCore):
    """A decoder with all its optional members, each answer checked.

    Every method raises `Unsupported` where the member is not there, or refuses.
    """

    def need(self, *names: str) -> None:
        """Check that this decoder offers these capabilities.

        Raises:
            Unsupported: naming the members that would be needed.
        """
        for name in names:
            if name not in self.capabilities.offers:
                raise NotOfferedError(CAPABILITIES[name].members)

    @property
    def performable(self) -> frozenset[str]:
        """Operations of schedules that it can perform; new caches and forks are always possible."""
        offers = self.capabilities.offers
        split = {"split"} if "reorder" in offers else set()
        return frozenset(offers | {"fork", "new", "release"} | split)

    def fork(self, cache: Any) -> Any:
        """An independent copy of a cache, or of a batch's."""
        if "fork" in self.capabilities.offers:
            return self._given_cache("fork", self._call("fork", cache), "an independent copy")
        if not self.capabilities.mutates_cache:
            return cache
        try:
            copied = copy.deepcopy(cache)
        except Exception as error:  # a foreign object's copying may raise anything
            said = f"{type(error).__name__}: {answers.first_line(error)}"
            raise Unsupported(
                f"copy.deepcopy cannot copy the cache ({said}); offer fork(cache)"
            ) from error
        if copied is cache:
            raise Unsupported(
                "copy.deepcopy returns the cache itself and not a copy; offer fork(cache)"
            )
        return self._track(copied)

    def crop(self, cache: Any, length: int) -> Any:
        """The cache with its first ``length`` tokens only."""
        self.need("crop")
        after = self._call("crop", cache, length)
        return self._changed_cache(
            "crop(cache, length)", cache, after, "the cache with fewer tokens"
        )

    def save(self, cache: Any) -> bytes:
        """The cache as bytes."""
        self.need("save")
        data = self._call("save", cache)
        if not isinstance(data, bytes | bytearray | memoryview):
            raise DecoderError(f"save(cache) returned {answers.describe(data)}; expected bytes")
        return bytes(data)

    def load(self, data: bytes) -> Any:
        """The cache that was saved."""
        self.need("save")
        return self._given_cache("load", self._call("load", data), "the cache that was saved")

    def reset(self, cache: Any) -> Any:
        """The cache emptied."""
        self.need("reset")
        after = self._call("reset", cache)
        return self._changed_cache("reset(cache)", cache, after, "the cache, emptied")

    def release(self, cache: Any) -> None:
        """Tell the decoder that this cache will not be used again."""
        if self._is_live(cache) and "release" in self.capabilities.offers:
            self._call("release", cache)
        self._untrack(cache)

    def broken_invariant(self) -> str | None:
        """The message of the decoder's own check of the caches in use; None if it passes."""
        if "check_invariants" not in self.capabilities.offers:
            return None
        try:
            self._call("check_invariants", list(self._live))
        except DecoderRaisedError as error:
            if isinstance(error.__cause__, AssertionError):
                return answers.first_line(error.__cause__)
            raise
        return None

    def work(self) -> int:
        """Rows that the decoder has projected so far."""
        self.need("work")
        count = self._call("work")
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
            raise DecoderError(f"work() returned {count!r}; expected a count >= 0")
        return int(count)

    def full_batch(self, sequences: Sequence[Any]) -> list[Rows]:
        """The rows of several sequences, no cache involved."""
        self.need("full_batch")
        given = _arrays(sequences)
        return self._rows_of_batch("full_batch", given, self._call("full_batch", given))

    def new_batch_cache(self, count: int) -> Any:
        """The empty cache of ``count`` rows."""
        self.need("batch")
        cache = self._call("new_batch_cache", count)
        return self._given_cache("new_batch_cache", cache, "an empty batch")

    def extend_batch(self, sequences: Sequence[Any], cache: Any) -> tuple[list[Rows], Any]:
        """New tokens for each row of a batch: their rows, and the cache that holds them."""
        self.need("batch")
        given = _arrays(sequences)
        call = answers.describe_call("extend_batch", (given, cache))
        rows, after = answers.read_pair(call, self._call("extend_batch", given, cache))
        return self._rows_of_batch(call, given, rows), self._track_successor(cache, after)

    def reorder(self, cache: Any, rows: Sequence[int]) -> Any:
        """The batch with these of its rows, in this order."""
        self.need("reorder")
        after = self._call("reorder", cache, list(rows))
        return self._changed_cache("reorder(cache, rows)", cache, after, "the batch of these rows")

    def merge(self, caches: Sequence[Any]) -> Any:
        """One batch of the rows of several caches; the caller releases these."""
        self.need("merge")
        merged = self._call("merge", list(caches))
        if merged is None:
            raise DecoderError("merge(caches) returned None; expected one batch of all the rows")
        return self._track(merged)

    @cached_property
    def float64(self) -> Guarded | None:
        """The same decoder in float64, where it can be run so."""
        if "as_float64" not in self.capabilities.offers or self.capabilities.dtype == "float64":
            return None
        try:
            other = self._call("as_float64")
        except Unsupported:
            return None
        try:
            guarded = Guarded(other)
        except TargetError as error:
            raise DecoderError(f"as_float64() did not return a decoder: {error}") from error
        guarded.limit, guarded.label = self.limit, "as_float64()."
        # It is float64 by its name: undeclared, its rows might be taken for widened float32.
        guarded.capabilities = replace(guarded.capabilities, dtype="float64")
        rows, exact = self.full([0, 1]).astype(np.float64), guarded.full([0, 1])
        if rows.shape != exact.shape or np.abs(rows - exact).max() > _SAME * np.abs(exact).max():
            raise DecoderError(
                "as_float64() gives different rows for the same 2 tokens, by more than rounding; "
                "expected the same decoder with the same weights, in float64"
            )
        return guarded

    def _rows_of_batch(self, call: str, given: list[Any], answer: Any) -> list[Rows]:
        sizes = [len(one) for one in given]
        expected = f"a list of {len(sizes)} arrays of rows, one for each array of tokens"
        try:
            several = list(answer)
        except TypeError:
            several = []
        if isinstance(answer, str | bytes | dict) or len(several) != len(sizes):
            raise DecoderError(f"{call} returned {answers.describe(answer)}; expected {expected}")
        named = f"{call}, array"
        return [
            self._rows(f"{named} {at}", rows, size)
            for at, (rows, size) in enumerate(zip(several, sizes, strict=True))
        ]

    def _given_cache(self, name: str, cache: Any, expected: str) -> Any:
        if cache is None:
            raise DecoderError(f"{name} returned None; expected {expected}")
        return self._track(cache)

    def _changed_cache(self, call: str, cache: Any, after: Any, expected: str) -> Any:
        if after is None:
            raise DecoderError(f"{call} returned None; expected {expected}")
        return self._track_successor(cache, after)


def _arrays(sequences: Sequence[Any]) -> list[Any]:
    return [np.array(tokens, np.int64) for tokens in sequences]
