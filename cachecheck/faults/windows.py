"""Rings that lose keys which a row may still see."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cachecheck.faults.fault import Fault, Make, stored_factory
from cachecheck.faults.resets import unordered_mask
from cachecheck.reference.cache import LayerCache
from cachecheck.reference.caches.ring import EMPTY, RingCache, RingLayer, RingStorage, ring
from cachecheck.reference.caches.sinks import sinks
from cachecheck.reference.config import Precision
from cachecheck.reference.masks import Bools
from cachecheck.reference.mechanisms import CachedCall, Mechanisms
from cachecheck.reference.positions import Ints
from cachecheck.reference.stored import InPlaceDecoder
from cachecheck.reference.weights import Floats


class WrittenFirst(RingLayer):
    """Is written before the chunk attends."""

    def append(self, key: Floats, value: Floats, positions: Ints) -> LayerCache:
        """The ring's content after the chunk; a chunk longer than the ring attends as it should."""
        if len(positions) > len(self.slot_positions):
            return super().append(key, value, positions)
        after = self.fork()
        after.write(key, value, positions)
        after.length = int(positions[-1]) + 1
        return after.ordered()


class WrittenFirstStorage(RingStorage):
    """Makes rings that are written first."""

    layer_type = WrittenFirst


class ForgetsSinks(RingLayer):
    """Evicts a sink when it leaves the window, like any other position."""

    def write(self, key: Floats, value: Floats, positions: Ints) -> None:
        """Write into the slots as the right one; then drop the sinks that are too old."""
        super().write(key, value, positions)
        window = len(self.slot_positions) - self.sinks
        self.slot_positions[self.slot_positions <= positions[-1] - window] = EMPTY


class ForgetsSinksStorage(RingStorage):
    """Makes rings that do not keep their sinks."""

    layer_type = ForgetsSinks


class KeepsFirst(RingLayer):
    """Writes a chunk until the ring is full."""

    def write(self, key: Floats, value: Floats, positions: Ints) -> None:
        """The first tokens of a chunk that is longer than the ring, where the last are due."""
        room = len(self.slot_positions)
        super().write(key[:, :room], value[:, :room], positions[:room])


class KeepsFirstStorage(RingStorage):
    """Makes rings that are filled from a chunk's beginning."""

    layer_type = KeepsFirst


class StaysWrapped(RingLayer):
    """Can be wound back until it has wrapped, and then moves its counter alone."""

    def crop(self, length: int) -> None:
        """In a wrapped ring the removed tokens stay in their slots."""
        if self.length > len(self.slot_positions):
            self.length = length
        else:
            super().crop(length)


class StaysWrappedStorage(RingStorage):
    """Makes rings whose slots a rollback does not empty."""

    layer_type = StaysWrapped


class BlindRows(Mechanisms):
    """Shows a chunk that is longer than the window its last keys alone.

    Masked scores get a large finite number, so that a row without any key takes the mean of all
    values in place of NaN.
    """

    def mask(self, call: CachedCall, layer: int, keys: Ints) -> Bools:  # noqa: ARG002
        """Blind rows see everything, and `bias` makes it all the same to them."""
        visible = self._capped(call, keys)
        return visible | ~visible.any(axis=1, keepdims=True)

    def bias(self, call: CachedCall, keys: Ints) -> Floats | None:
        """The filler in all of a blind row's scores, next to which they vanish."""
        blind = ~self._capped(call, keys).any(axis=1)  # (T,)
        filler = np.where(blind, -1e30, 0.0)[None, :, None]  # (1, T, 1)
        right = super().bias(call, keys)  # (H, T, R) or None
        return filler if right is None else right + filler

    def _capped(self, call: CachedCall, keys: Ints) -> Bools:
        visible, window = super().mask(call, 0, keys), call.config.window
        if window is None or call.new <= window:
            return visible
        return np.asarray(visible & (keys > keys[-1] - window))  # (T, R)


def _ring(storage: type[RingStorage], mechanisms: Callable[[], Mechanisms]) -> Make:
    def make(seed: int, dtype: Precision = "float64") -> InPlaceDecoder[RingCache]:
        config = ring(seed, dtype).config
        return InPlaceDecoder(config, storage, seed=seed, mechanisms=mechanisms())

    return make


WINDOWS = (
    Fault(
        id="ring-written-before-attending",
        host="ring",
        kind="ring-overwrite-in-chunk",
        mechanism="ring",
        symptom="The first rows of a chunk miss keys that its last tokens have overwritten.",
        law="schedule",
        reports=(
            "awslabs/keys_values#140",
            "pytorch/executorch#22358",
        ),
        make=stored_factory(ring, InPlaceDecoder, WrittenFirstStorage),
        right=ring,
        smallest="1+4",
    ),
    Fault(
        id="sinks-evicted",
        host="sinks",
        kind="sliding-mask-not-absolute",
        mechanism="evict",
        symptom="The first positions leave the cache with the window, though they should stay.",
        law="schedule",
        reports=("pytorch/executorch#21857",),
        make=stored_factory(sinks, InPlaceDecoder, ForgetsSinksStorage),
        right=sinks,
        smallest="5+1",
    ),
    Fault(
        id="ring-keeps-chunk-beginning",
        host="ring",
        kind="ring-overwrite-in-chunk",
        mechanism="ring",
        symptom="A chunk longer than the ring leaves its first tokens there instead of its last.",
        law="schedule",
        reports=("pytorch/executorch#19213",),
        make=stored_factory(ring, InPlaceDecoder, KeepsFirstStorage),
        right=ring,
        smallest="5+1",
        when="a chunk is longer than the window",
    ),
    Fault(
        id="ring-crop-leaves-stale-slots",
        host="ring",
        kind="rollback-on-wrapped-window",
        mechanism="crop",
        symptom="A wrapped ring that is rolled back still shows the removed tokens.",
        law="crop",
        reports=("ml-explore/mlx-lm#1494", "ml-explore/mlx-swift-lm#584"),
        make=_ring(StaysWrappedStorage, lambda: Mechanisms(unordered_mask)),
        right=ring,
        smallest="5 crop4 1",
        when="the ring has wrapped",
    ),
    Fault(
        id="ring-blind-rows-average",
        host="ring",
        kind="masked-row-nan",
        mechanism="mask",
        symptom="The first rows of a chunk longer than the window see nothing and take the mean of "
        "all values.",
        law="schedule",
        reports=("microsoft/onnxruntime#28904", "vllm-project/vllm#38436"),
        make=_ring(RingStorage, BlindRows),
        right=ring,
        smallest="5",
        when="a chunk is longer than the window",
    ),
)
