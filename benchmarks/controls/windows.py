"""Windows that keep more or fewer tokens than expected, and show the same ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from benchmarks.controls.cache_class import CacheOfClass
from benchmarks.controls.control import Control, Make, factory_of
from benchmarks.controls.own_pass import BothWays
from cachecheck.errors import Unsupported
from cachecheck.reference import Cache, Config, LayerCache, ReferenceDecoder
from cachecheck.reference.caches.ring import EMPTY, RingCache, RingStorage
from cachecheck.reference.masks import Bools, allowed
from cachecheck.reference.positions import Ints
from cachecheck.reference.stored import InPlaceDecoder, StoredDecoder


class ExactCache(Cache):
    """A window of W evicts down to the W-1 positions that the next row can see."""

    def commit(self, appended: Sequence[LayerCache], new: int, config: Config) -> Self:
        """The cache with ``new`` more tokens."""
        assert config.window is not None  # noqa: S101 - the factory sets one
        layers = tuple(one.evict(config.window - 1, config.sinks) for one in appended)
        return type(self)(layers, self.length + new, new, self.fingerprint)


class LateCache(Cache):
    """Evicts when a layer holds twice the window, and then down to the window."""

    def commit(self, appended: Sequence[LayerCache], new: int, config: Config) -> Self:
        """The cache with ``new`` more tokens."""
        assert config.window is not None  # noqa: S101 - the factory sets one
        most = 2 * config.window + config.sinks
        layers = tuple(
            one if len(one.positions) < most else one.evict(config.window, config.sinks)
            for one in appended
        )
        return type(self)(layers, self.length + new, new, self.fingerprint)


class ExactStorage(CacheOfClass):
    """Keeps what the next row can see and nothing else."""

    cache_type = ExactCache


class LateStorage(CacheOfClass):
    """Keeps more than the window for a while."""

    cache_type = LateCache


class ExactDecoder(StoredDecoder[Any]):
    """The border over it."""

    def __init__(self, config: Config, *, seed: int) -> None:
        super().__init__(config, ExactStorage, seed=seed)


class LateDecoder(StoredDecoder[Any]):
    """The border over it; saved caches are those of a window alone, so it does not offer any."""

    save = load = None  # type: ignore[assignment]  # a member that is None is not offered

    def __init__(self, config: Config, *, seed: int) -> None:
        super().__init__(config, LateStorage, seed=seed)


class WideRingStorage(RingStorage):
    """Rings of more slots than the window."""

    def new(self) -> RingCache:
        """Three slots too many in each ring."""
        cache = super().new()
        for layer in cache.layers:
            shape = (layer.key.shape[0], 3, layer.key.shape[2])
            more = np.zeros(shape, layer.key.dtype)  # (G, 3, D)
            layer.key = np.concatenate([layer.key, more], axis=1)  # (G, N+3, D)
            layer.value = np.concatenate([layer.value, more], axis=1)  # (G, N+3, D)
            layer.slot_positions = np.append(layer.slot_positions, [EMPTY] * 3)  # (N+3,)
        return cache


class WideRingDecoder(InPlaceDecoder[RingCache]):
    """The border over wide rings, without saving, as above."""

    save = load = None  # type: ignore[assignment]  # a member that is None is not offered

    def __init__(self, config: Config, *, seed: int) -> None:
        super().__init__(config, WideRingStorage, seed=seed)


class RefusesOnceEvicted(ReferenceDecoder):
    """Refuses every rollback as soon as the window has evicted anything."""

    def crop(self, cache: Cache, length: int) -> Cache:
        """The first ``length`` tokens alone."""
        if self.window is not None and cache.length > self.window:
            raise Unsupported("no rollback past a window: the evicted tokens are gone")
        return super().crop(cache, length)


class LayerWindows(BothWays):
    """The first layer sees three tokens, the others all; nothing is evicted or declared."""

    def mask(self, number: int, positions: Ints, keys: Ints) -> Bools:
        """(T, S)."""
        return allowed(positions, keys, 3 if number == 0 else None, 0)


class HeadWindows(BothWays):
    """Each head sees one token more than the one before it."""

    def mask(self, number: int, positions: Ints, keys: Ints) -> Bools:  # noqa: ARG002
        """(H, T, S)."""
        heads = range(self.config.heads)
        return np.stack([allowed(positions, keys, 2 + head, 0) for head in heads])


def _windowed(made: Callable[..., Any], window: int | None, sinks: int = 0, **more: Any) -> Make:
    return factory_of(made, window=window, sinks=sinks, **more)


def _plain_ring(config: Config, *, seed: int) -> InPlaceDecoder[RingCache]:
    return InPlaceDecoder(config, RingStorage, seed=seed)


WINDOWS = (
    Control(
        "keeps-what-is-seen",
        "A window of five keeps four tokens: one too few.",
        "The next row is one of the five itself.",
        _windowed(ExactDecoder, 5, sinks=1),
    ),
    Control(
        "evicts-late",
        "The cache holds up to twice its window.",
        "The mask hides what has left the window, and eviction comes in blocks.",
        _windowed(LateDecoder, 4, sinks=1),
    ),
    Control(
        "ring-too-large",
        "The ring has three slots more than the window, and old tokens stay in them.",
        "The mask goes by positions and not by slots.",
        _windowed(WideRingDecoder, 4),
    ),
    Control(
        "window-never-reached",
        "Nothing is ever evicted although there is a window.",
        "No sequence is as long as the window.",
        _windowed(_plain_ring, 1000),
    ),
    Control(
        "window-of-one",
        "No row depends on any cached token.",
        "A window of one shows each token itself alone, in both passes.",
        _windowed(ReferenceDecoder, 1),
    ),
    Control(
        "sinks-stay",
        "The first tokens stay visible although the window has passed them.",
        "They are sinks, and the full pass sees them too.",
        _windowed(_plain_ring, 3, sinks=2),
    ),
    Control(
        "rollback-refused",
        "A rollback that is fine on short sequences raises on longer ones.",
        "It refuses cleanly, since the window has evicted tokens by then.",
        _windowed(RefusesOnceEvicted, 6),
    ),
    Control(
        "one-layer-windowed",
        "The first layer forgets all but three tokens, and no window is declared.",
        "The full pass has the same window there, and the second layer sees everything.",
        _windowed(LayerWindows, None, layers=2),
    ),
    Control(
        "heads-see-unequally",
        "Every head has another mask.",
        "The full pass has the same masks, head by head.",
        _windowed(HeadWindows, None, heads=4, key_value_heads=2, head_width=4),
    ),
)
