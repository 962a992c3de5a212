"""Handles to a cache: the same object every time, or one that may be used once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmarks.controls.control import Control, factory_of
from cachecheck.errors import InputError
from cachecheck.reference import Cache, Config, ReferenceDecoder
from cachecheck.reference.cache import LayerState
from cachecheck.reference.weights import Floats


class WrapsReference:
    """A decoder with a reference decoder inside, which computes the rows."""

    def __init__(self, config: Config, *, seed: int) -> None:
        self.config = config
        self.inner = ReferenceDecoder(config, seed=seed)
        self.vocab_size, self.dtype = config.vocab_size, config.dtype
        self.window, self.max_length = config.window, config.max_length

    def full(self, tokens: Any) -> Floats:
        """(T,) integers -> (T, width) or (T, V)."""
        return self.inner.full(tokens)


@dataclass(eq=False)
class Handle:
    """A handle to the current cache."""

    cache: Cache | None


class SameObject(WrapsReference):
    """Changes its cache in place: the object given is the object returned."""

    mutates_cache = True

    def new_cache(self) -> Handle:
        """An empty handle."""
        return Handle(self.inner.new_cache())

    def extend(self, tokens: Any, handle: Handle) -> tuple[Floats, Handle]:
        """The chunk's rows, and the handle to go on with."""
        rows, after = self.inner.extend(tokens, self.contents(handle))
        return rows, self.passed_on(handle, after)

    def crop(self, handle: Handle, length: int) -> Handle:
        """The first ``length`` tokens alone."""
        return self.passed_on(handle, self.inner.crop(self.contents(handle), length))

    def reset(self, handle: Handle) -> Handle:
        """No tokens."""
        self.contents(handle)
        return self.passed_on(handle, self.inner.new_cache())

    def state(self, handle: Handle) -> list[LayerState]:
        """Per layer, the arrays by name."""
        return self.contents(handle).state()

    def work(self) -> int:
        """Rows projected so far."""
        return self.inner.work()

    def passed_on(self, handle: Handle, cache: Cache) -> Handle:
        """The handle that holds ``cache`` from now on."""
        handle.cache = cache
        return handle

    def contents(self, handle: Handle) -> Cache:
        """The cache behind the handle.

        Raises:
            InputError: a handle that was used up.
        """
        if handle.cache is None:
            raise InputError("this handle was used up by an earlier call")
        return handle.cache


class UsedOnce(SameObject):
    """Every call returns a new handle and voids the one that it was given."""

    def passed_on(self, handle: Handle, cache: Cache) -> Handle:
        """A new handle."""
        handle.cache = None
        return Handle(cache)


HANDLES = (
    Control(
        "same-object",
        "The cache returned is the object that was given, changed.",
        "That is what mutates_cache = True declares.",
        factory_of(SameObject),
    ),
    Control(
        "handles-used-once",
        "A cache raises when it is used a second time.",
        "With mutates_cache = True only the cache that a call returned is there to go on with.",
        factory_of(UsedOnce),
    ),
)
