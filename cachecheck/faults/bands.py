"""Windows that mask and eviction measure differently, or from the wrong place."""

from __future__ import annotations

import numpy as np

from cachecheck.faults.configurations import (
    changed_config,
    copying_fault,
    right_factory,
    with_window,
)
from cachecheck.faults.fault import Fault
from cachecheck.reference.cache import Cache, LayerCache
from cachecheck.reference.config import Precision
from cachecheck.reference.decoder import CopyingStorage
from cachecheck.reference.masks import WRONG_MASKS, Bools, allowed
from cachecheck.reference.mechanisms import CachedCall, Mechanisms
from cachecheck.reference.positions import Ints
from cachecheck.reference.stored import StoredDecoder
from cachecheck.reference.weights import Floats


class OneWider(Mechanisms):
    """Takes the window for the number of keys before a row, without its own."""

    def mask(self, call: CachedCall, layer: int, keys: Ints) -> Bools:  # noqa: ARG002, D102
        assert call.config.window is not None  # noqa: S101 - the host has one
        return allowed(call.positions, keys, call.config.window + 1, call.config.sinks)


class OneNarrower(Mechanisms):
    """Counts a row's own key twice."""

    def mask(self, call: CachedCall, layer: int, keys: Ints) -> Bools:  # noqa: ARG002, D102
        assert call.config.window is not None  # noqa: S101 - the host has one
        return allowed(call.positions, keys, call.config.window - 1, call.config.sinks)


class NoBand(Mechanisms):
    """Leaves the window to eviction, which comes after the chunk has attended."""

    def mask(self, call: CachedCall, layer: int, keys: Ints) -> Bools:  # noqa: ARG002, D102
        return allowed(call.positions, keys, None, 0)


class BandOfFirstRow(Mechanisms):
    """Gives all rows of a chunk the lower end of its first one."""

    def mask(self, call: CachedCall, layer: int, keys: Ints) -> Bools:  # noqa: D102
        first = super().mask(call, layer, keys)[:1]  # (1, R)
        oldest = keys[first[0]].min()
        return np.asarray(allowed(call.positions, keys, None, 0) & (keys >= oldest))


class WindowOfLastRow(Mechanisms):
    """Gives all rows of a chunk the lower end of its last one."""

    def __init__(self) -> None:
        super().__init__(WRONG_MASKS["window-from-last-row"].rule)


class EvictsEarly(LayerCache):
    """Evicts one position more than the next row can do without."""

    def evict(self, window: int | None, sinks: int) -> LayerCache:
        """The last W-2, of the W-1 that the next row sees."""
        evicted = super().evict(None if window is None else window - 2, sinks)
        return EvictsEarly(evicted.key, evicted.value, evicted.positions, evicted.length)

    def append(self, key: Floats, value: Floats, positions: Ints) -> LayerCache:
        """As in the right cache, in a layer that evicts too early again."""
        grown = super().append(key, value, positions)
        return EvictsEarly(grown.key, grown.value, grown.positions, grown.length)


class EvictsEarlyStorage(CopyingStorage):
    """Makes layers that evict too early."""

    def new(self) -> Cache:
        """Empty layers."""
        cache = super().new()
        layers = tuple(EvictsEarly(one.key, one.value, one.positions) for one in cache.layers)
        return Cache(layers, 0, 0, cache.fingerprint)


def _evicts_early(seed: int, dtype: Precision = "float64") -> StoredDecoder[Cache]:
    return StoredDecoder(changed_config(seed, dtype, with_window), EvictsEarlyStorage, seed=seed)


BANDS = (
    copying_fault(
        "window-one-wide",
        "In the cached pass a row sees one key more than its window holds.",
        OneWider,
        kind="window-off-by-one",
        mechanism="mask",
        reports=("huggingface/transformers#39408", "sgl-project/sglang#26147"),
        smallest="5",
        changes=with_window,
    ),
    copying_fault(
        "window-one-narrow",
        "In the cached pass a row sees one key less than its window holds.",
        OneNarrower,
        kind="window-off-by-one",
        mechanism="mask",
        reports=("lightseekorg/tokenspeed#578",),
        smallest="4",
        changes=with_window,
    ),
    Fault(
        id="copying-evicts-one-early",
        host="copying",
        kind="window-off-by-one",
        mechanism="evict",
        symptom="Eviction drops the oldest key that the next row still sees.",
        law="window",
        reports=("ml-explore/mlx-examples#1093", "huggingface/transformers#37414"),
        make=_evicts_early,
        right=right_factory(with_window),
        smallest="3+2",
    ),
    copying_fault(
        "window-unbanded",
        "Inside a chunk the causal mask alone limits a row, and the window does not.",
        NoBand,
        kind="sliding-mask-not-absolute",
        mechanism="mask",
        reports=("pytorch/executorch#21384",),
        smallest="5",
        changes=with_window,
    ),
    copying_fault(
        "window-of-first-row",
        "All rows of a chunk get the window of its first row.",
        BandOfFirstRow,
        kind="sliding-mask-not-absolute",
        mechanism="mask",
        reports=("pytorch/executorch#21857",),
        smallest="5",
        changes=with_window,
    ),
    copying_fault(
        "window-of-last-row",
        "All rows of a chunk get the window of its last row.",
        WindowOfLastRow,
        kind="sliding-mask-not-absolute",
        mechanism="mask",
        reports=("lablup/mlxcel#405", "huggingface/transformers#35681"),
        smallest="1+4",
        changes=with_window,
    ),
)
