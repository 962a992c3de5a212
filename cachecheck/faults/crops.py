"""Rollbacks that end at another length than asked for."""

from __future__ import annotations

from dataclasses import replace

from cachecheck.faults.blocks import paged_factory
from cachecheck.faults.fault import Fault, stored_factory
from cachecheck.faults.resets import unordered_mask
from cachecheck.reference.cache import Cache
from cachecheck.reference.caches.copying import copying
from cachecheck.reference.caches.paged import PagedCache
from cachecheck.reference.caches.paged_decoder import PagedDecoder, paged
from cachecheck.reference.caches.ring import RingCache, RingStorage, ring
from cachecheck.reference.caches.shared import SharedCache, SharedDecoder, SharedStorage, shared
from cachecheck.reference.caches.static import StaticCache, StaticStorage, static
from cachecheck.reference.config import Precision
from cachecheck.reference.decoder import CopyingStorage
from cachecheck.reference.mechanisms import Mechanisms
from cachecheck.reference.stored import InPlaceDecoder, StoredDecoder


class KeepsOneMore(InPlaceDecoder[StaticCache]):
    """Takes the length for the last position that stays."""

    def crop(self, cache: StaticCache, length: int) -> StaticCache:
        """One token more than asked for, where there is one."""
        return super().crop(cache, min(length + 1, cache.length))


class KeepsOneLess(SharedDecoder):
    """Takes back the token before the rejected ones as well."""

    def crop(self, cache: SharedCache, length: int) -> SharedCache:
        """One token less than asked for, unless there is nothing to take back."""
        return super().crop(cache, length if length == cache.length else max(0, length - 1))


class IgnoresCrop(StoredDecoder[Cache]):
    """Takes nothing back, and raises nothing."""

    def crop(self, cache: Cache, length: int) -> Cache:  # noqa: ARG002
        """The cache as it is."""
        return cache


class CropsEvicted(InPlaceDecoder[RingCache]):
    """Rolls back even to tokens that the ring has lost."""

    def _check_retained(self, cache: RingCache, length: int) -> None:
        """Any length will do."""


class CountsRemoved(PagedDecoder):
    """Takes the length for the number of tokens to take back."""

    def crop(self, cache: PagedCache, length: int) -> PagedCache:
        """So many fewer, where so many should stay."""
        return super().crop(cache, cache.length - length)


class TakesOneAtLeast(SharedDecoder):
    """Removes at least one token in every rollback."""

    def crop(self, cache: SharedCache, length: int) -> SharedCache:
        """The last token goes even where all were accepted."""
        return super().crop(cache, max(0, min(length, cache.length - 1)))


class LastLayerStays(StoredDecoder[Cache]):
    """Rolls back all layers but the last."""

    def crop(self, cache: Cache, length: int) -> Cache:
        """The last layer's length moves too, so that nothing is noticed; its tokens stay."""
        after = super().crop(cache, length)
        stuck = replace(cache.layers[-1], length=length)
        layers = (*after.layers[:-1], stuck)
        return Cache(layers, after.length, after.last_chunk, after.fingerprint)


def _last_layer_stays(seed: int, dtype: Precision = "float64") -> LastLayerStays:
    config = copying(seed, dtype).config
    return LastLayerStays(config, CopyingStorage, seed=seed, mechanisms=Mechanisms(unordered_mask))


CROPS = (
    Fault(
        id="static-crop-keeps-one-more",
        host="static",
        kind="rollback-count-wrong",
        mechanism="crop",
        symptom="After a rollback the first of the rejected tokens is still there.",
        law="crop",
        reports=(
            "huggingface/transformers#47433",
            "lablup/mlxcel#994",
        ),
        make=stored_factory(static, KeepsOneMore, StaticStorage),
        right=static,
        smallest="2 crop1 1",
    ),
    Fault(
        id="shared-crop-keeps-one-less",
        host="shared",
        kind="rollback-count-wrong",
        mechanism="crop",
        symptom="After a rollback the last of the accepted tokens is gone too.",
        law="crop",
        reports=("lablup/mlxcel#994",),
        make=stored_factory(shared, KeepsOneLess, SharedStorage),
        right=shared,
        smallest="2 crop1 1",
    ),
    Fault(
        id="copying-crop-ignored",
        host="copying",
        kind="rollback-silent-noop",
        mechanism="crop",
        symptom="A rollback returns the cache with all its tokens.",
        law="crop",
        reports=(
            "microsoft/onnxruntime-genai#2140",
            "ml-explore/mlx-lm#1427",
        ),
        make=stored_factory(copying, IgnoresCrop, CopyingStorage),
        right=copying,
        smallest="2 crop1 1",
    ),
    Fault(
        id="ring-crop-goes-ahead",
        host="ring",
        kind="rollback-on-wrapped-window",
        mechanism="crop",
        symptom="A wrapped ring rolls back to tokens whose slots have been overwritten.",
        law="crop",
        reports=(
            "waybarrios/vllm-mlx#678",
            "Blaizzy/mlx-vlm#1715",
        ),
        make=stored_factory(ring, CropsEvicted, RingStorage),
        right=ring,
        smallest="5 crop1 1",
    ),
    Fault(
        id="paged-crop-counts-removed",
        host="paged",
        kind="rollback-count-wrong",
        mechanism="crop",
        symptom="A rollback removes as many tokens as should stay.",
        law="crop",
        reports=("huggingface/transformers#47720",),
        make=paged_factory(CountsRemoved),
        right=paged,
        smallest="1 crop1 1",
    ),
    Fault(
        id="shared-crop-takes-one-at-least",
        host="shared",
        kind="rollback-count-wrong",
        mechanism="crop",
        symptom="A rollback that should remove nothing removes the last token.",
        law="crop",
        reports=("ml-explore/mlx-lm#1528",),
        make=stored_factory(shared, TakesOneAtLeast, SharedStorage),
        right=shared,
        smallest="1 crop1 1",
        when="all tokens were accepted",
    ),
    Fault(
        id="copying-crop-skips-last-layer",
        host="copying",
        kind="rollback-silent-noop",
        mechanism="crop",
        symptom="The last layer keeps the rejected tokens of a rollback beside the new ones.",
        law="crop",
        reports=("ml-explore/mlx-lm#1109", "ml-explore/mlx-swift-lm#424"),
        make=_last_layer_stays,
        right=copying,
        smallest="2 crop1 1",
        when="in the last layer alone",
    ),
)
