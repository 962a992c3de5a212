"""Windows that mask and eviction measure differently, or from the wrong place."""

from __future__ import annotations

import numpy as np

from cachecheck.faults.configurations import changed, host, of_copying, with_window
from cachecheck.faults.fault import Fault
from cachecheck.reference.cache import Cache, LayerCache
from cachecheck.reference.config import Precision
from cachecheck.reference.decoder import CopyingStorage
from cachecheck.reference.masks import WRONG_MASKS, Bools, allowed
from cachecheck.reference.mechanisms import CachedCall, Mechanisms
from cachecheck.reference.positions import Ints
from cachecheck.reference.stored import StoredDecoder
from cachecheck.reference.weights import Floats


class Wider(Mechanisms):
    """Takes the window for the number of keys before a row, its own not counted."""

    def mask(self, call: CachedCall, layer: int, keys: Ints) -> Bools:  # noqa: ARG002, D102
        assert call.config.window is not None  # noqa: S101 - the host has one
        return allowed(call.positions, keys, call.config.window + 1, call.config.sinks)


class Narrower(Mechanisms):
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


class Hasty(LayerCache):
    """Evicts one position more than the next row can do without."""

    def evict(self, window: int | None, sinks: int) -> LayerCache:
        """The last W-2, of the W-1 that the next row sees."""
        kept = super().evict(None if window is None else window - 2, sinks)
        return Hasty(kept.key, kept.value, kept.positions, kept.length)

    def append(self, key: Floats, value: Floats, positions: Ints) -> LayerCache:
        """As ever, to be evicted hastily again."""
        grown = super().append(key, value, positions)
        return Hasty(grown.key, grown.value, grown.positions, grown.length)


class HastyStorage(CopyingStorage):
    """Makes layers that evict too early."""

    def new(self) -> Cache:
        """Empty layers."""
        cache = super().new()
        layers = tuple(Hasty(one.key, one.value, one.positions) for one in cache.layers)
        return Cache(layers, 0, 0, cache.fingerprint)


def _hasty(seed: int, dtype: Precision = "float64") -> StoredDecoder[Cache]:
    return StoredDecoder(changed(seed, dtype, with_window), HastyStorage, seed=seed)


BANDS = (
    of_copying(
        "window-one-wide",
        "In the cached pass a row sees one key more than its window holds.",
        Wider,
        kind="window-off-by-one",
        mechanism="mask",
        reports=("huggingface/transformers#39408", "sgl-project/sglang#26147"),
        smallest="5",
        choose=with_window,
    ),
    of_copying(
        "window-one-narrow",
        "In the cached pass a row sees one key less than its window holds.",
        Narrower,
        kind="window-off-by-one",
        mechanism="mask",
        reports=("lightseekorg/tokenspeed#578",),
        smallest="4",
        choose=with_window,
    ),
    Fault(
        id="copying-evicts-one-early",
        host="copying",
        kind="window-off-by-one",
        mechanism="evict",
        symptom="Eviction drops the oldest key that the next row still sees.",
        law="window",
        reports=("ml-explore/mlx-examples#1093", "huggingface/transformers#37414"),
        make=_hasty,
        right=host(with_window),
        smallest="3+2",
    ),
    of_copying(
        "window-unbanded",
        "Inside a chunk nothing but the causal mask bounds what a row sees.",
        NoBand,
        kind="sliding-mask-not-absolute",
        mechanism="mask",
        reports=("pytorch/executorch#21384",),
        smallest="5",
        choose=with_window,
    ),
    of_copying(
        "window-of-first-row",
        "The window of a chunk's first row bounds all of its rows.",
        BandOfFirstRow,
        kind="sliding-mask-not-absolute",
        mechanism="mask",
        reports=("pytorch/executorch#21857",),
        smallest="5",
        choose=with_window,
    ),
    of_copying(
        "window-of-last-row",
        "The window of a chunk's last row bounds all of its rows.",
        WindowOfLastRow,
        kind="sliding-mask-not-absolute",
        mechanism="mask",
        reports=("lablup/mlxcel#405", "huggingface/transformers#35681"),
        smallest="1+4",
        choose=with_window,
    ),
)
