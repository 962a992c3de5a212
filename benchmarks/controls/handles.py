"""Handles to a cache: one object for ever, or one that may be used once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmarks.controls.control import Control, over
from cachecheck.errors import InputError
from cachecheck.reference import Cache, Config, ReferenceDecoder
from cachecheck.reference.cache import LayerState
from cachecheck.reference.weights import Floats


class Around:
    """What all of these have: a reference decoder inside."""

    def __init__(self, config: Config, *, seed: int) -> None:
        self.config = config
        self.inner = ReferenceDecoder(config, seed=seed)
        self.vocab_size, self.dtype = config.vocab_size, config.dtype
        self.window, self.max_length = config.window, config.max_length

    def full(self, tokens: Any) -> Floats:
        """(T,) integers -> (T, width) or (T, V)."""
        return self.inner.full(tokens)


@dataclass(eq=False)
class Box:
    """A handle to whatever the cache is by now."""

    cache: Cache | None


class SameObject(Around):
    """Changes its cache in place: the object given is the object returned."""

    mutates_cache = True

    def new_cache(self) -> Box:
        """An empty box."""
        return Box(self.inner.new_cache())

    def extend(self, tokens: Any, box: Box) -> tuple[Floats, Box]:
        """The chunk's rows, and the box to go on with."""
        rows, after = self.inner.extend(tokens, self.opened(box))
        return rows, self.onward(box, after)

    def crop(self, box: Box, length: int) -> Box:
        """The first ``length`` tokens alone."""
        return self.onward(box, self.inner.crop(self.opened(box), length))

    def reset(self, box: Box) -> Box:
        """No tokens."""
        self.opened(box)
        return self.onward(box, self.inner.new_cache())

    def state(self, box: Box) -> list[LayerState]:
        """Per layer, the arrays by name."""
        return self.opened(box).state()

    def work(self) -> int:
        """Rows projected so far."""
        return self.inner.work()

    def onward(self, box: Box, cache: Cache) -> Box:
        """The box that holds ``cache`` from now on."""
        box.cache = cache
        return box

    def opened(self, box: Box) -> Cache:
        """What is in the box.

        Raises:
            InputError: a handle that was used up.
        """
        if box.cache is None:
            raise InputError("this handle was used up by an earlier call")
        return box.cache


class UsedOnce(SameObject):
    """Every call returns a new handle and voids the one that it was given."""

    def onward(self, box: Box, cache: Cache) -> Box:
        """A new box."""
        box.cache = None
        return Box(cache)


HANDLES = (
    Control(
        "same-object",
        "The cache returned is the object that was given, changed.",
        "That is what mutates_cache = True declares.",
        over(SameObject),
    ),
    Control(
        "handles-used-once",
        "A cache raises when it is used a second time.",
        "With mutates_cache = True only the cache that a call returned is there to go on with.",
        over(UsedOnce),
    ),
)
