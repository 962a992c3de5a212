"""Forks that are not independent: one branch reads the tokens of another."""

from __future__ import annotations

from typing import Any

from cachecheck.faults.fault import Fault, stored_factory
from cachecheck.reference.cache import Cache
from cachecheck.reference.caches.copying import copying
from cachecheck.reference.caches.shared import (
    GrowingBuffer,
    SharedDecoder,
    SharedStorage,
    shared,
)
from cachecheck.reference.caches.static import StaticCache, StaticLayer, StaticStorage, static
from cachecheck.reference.decoder import CopyingStorage
from cachecheck.reference.stored import InPlaceDecoder, StoredDecoder
from cachecheck.reference.weights import Floats


class SharingDecoder(InPlaceDecoder[StaticCache]):
    """Its forks have a length of their own, but the buffers of their source."""

    def fork(self, cache: StaticCache) -> StaticCache:
        """A shallow copy, where a deep one is due."""
        layers = tuple(StaticLayer(one.key, one.value, one.length) for one in cache.layers)
        return StaticCache(layers, cache.fingerprint, cache.length, cache.last_chunk)


class OverwrittenBuffer(GrowingBuffer):
    """A buffer whose end any branch may overwrite."""

    def branch(self, length: int) -> GrowingBuffer:
        """This buffer itself, wound back over a sibling's tokens."""
        self.used = length
        return self


class OverwrittenStorage(SharedStorage):
    """Makes buffers that siblings overwrite."""

    buffer_type = OverwrittenBuffer


class SharingValues(InPlaceDecoder[StaticCache]):
    """Copies one of two buffers."""

    def fork(self, cache: StaticCache) -> StaticCache:
        """Keys of its own, and the values of its source."""
        layers = tuple(StaticLayer(one.key.copy(), one.value, one.length) for one in cache.layers)
        return StaticCache(layers, cache.fingerprint, cache.length, cache.last_chunk)


class AppendsToGiven(StoredDecoder[Cache]):
    """Promises new caches, and appends to the one that it was given."""

    def extend(self, tokens: Any, cache: Cache) -> tuple[Floats, Cache]:
        """The rows are right; who goes on from the old cache finds the new tokens in it."""
        rows, after = super().extend(tokens, cache)
        vars(cache).update(vars(after))
        return rows, cache


FORKS = (
    Fault(
        id="static-fork-shares-buffers",
        host="static",
        kind="fork-copy-missing",
        mechanism="fork",
        symptom="Two forks write their new tokens into the same slots.",
        law="branch",
        reports=("ggml-org/llama.cpp#3802",),
        make=stored_factory(static, SharingDecoder, StaticStorage),
        right=static,
        smallest="b=a 1 b:1 1",
    ),
    Fault(
        id="shared-tip-overwritten",
        host="shared",
        kind="cache-aliasing-mutation",
        mechanism="fork",
        symptom="In a shared buffer a branch overwrites its sibling's tokens instead of copying.",
        law="branch",
        reports=(
            "MemTensor/MemOS#2301",
            "jjang-ai/vmlx#198",
        ),
        make=stored_factory(shared, SharedDecoder, OverwrittenStorage),
        right=shared,
        smallest="b=a 1 b:1 1",
    ),
    Fault(
        id="static-fork-shares-values",
        host="static",
        kind="cache-aliasing-mutation",
        mechanism="fork",
        symptom="Two forks have keys of their own, and write their values into the same slots.",
        law="branch",
        reports=("huggingface/transformers#30108",),
        make=stored_factory(static, SharingValues, StaticStorage),
        right=static,
        smallest="b=a 1 b:1 1",
    ),
    Fault(
        id="copying-appends-to-given",
        host="copying",
        kind="cache-aliasing-mutation",
        mechanism="append",
        symptom="A call changes the cache that it was given, though it promises a new one.",
        law="frame",
        reports=("huggingface/transformers#37078", "jjang-ai/vmlx#198"),
        make=stored_factory(copying, AppendsToGiven, CopyingStorage),
        right=copying,
        smallest="1",
    ),
)
