"""Caches that come back from storage with tokens, arrays or memory that are not theirs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cachecheck.faults.fault import Fault, stored_factory
from cachecheck.reference.cache import Cache, LayerState
from cachecheck.reference.caches.copying import copying
from cachecheck.reference.caches.shared import SharedCache, SharedDecoder, SharedStorage, shared
from cachecheck.reference.caches.static import StaticCache, StaticStorage, static
from cachecheck.reference.config import Config
from cachecheck.reference.decoder import CopyingStorage
from cachecheck.reference.stored import InPlaceDecoder, StoredDecoder


class LosesLast(InPlaceDecoder[StaticCache]):
    """Leaves the last token of a paused request to be computed again, which nobody does."""

    def load(self, data: bytes) -> StaticCache:
        """One token less than was saved."""
        cache = super().load(data)
        return cache.crop(max(0, cache.length - 1))


class RepeatsLast(SharedStorage):
    """Computes the last token of a paused request again, though it was saved."""

    def restore(self, layers: Sequence[LayerState], length: int, last_chunk: int) -> SharedCache:
        """The last token twice."""
        cache = super().restore(layers, length, last_chunk)
        twice = tuple(
            one.append(one.key[:, -1:].copy(), one.value[:, -1:].copy(), np.array([length]))
            for one in cache.layers
        )
        return SharedCache(twice, length + 1, last_chunk, cache.fingerprint)


class KeysAsValues(SharedStorage):
    """Reads the keys twice."""

    def restore(self, layers: Sequence[LayerState], length: int, last_chunk: int) -> SharedCache:
        """The values that were saved are not looked at."""
        keys = [{**one, "value": one["key"]} for one in layers]
        return super().restore(keys, length, last_chunk)


class LastLayerWithoutValues(CopyingStorage):
    """Saves the last layer's keys, and no values of it."""

    def restore(self, layers: Sequence[LayerState], length: int, last_chunk: int) -> Cache:
        """Zeros in their place."""
        last = {**layers[-1], "value": np.zeros_like(layers[-1]["value"])}
        return super().restore([*layers[:-1], last], length, last_chunk)


class LoadsByReference(InPlaceDecoder[StaticCache]):
    """Keeps what it has loaded, to give it out again for the same bytes."""

    def __init__(self, config: Config, storage: type[StaticStorage], *, seed: int = 0) -> None:
        super().__init__(config, storage, seed=seed)
        self.loaded: dict[bytes, StaticCache] = {}

    def new_cache(self) -> StaticCache:
        """As the right one; the store is emptied, so that no case depends on another."""
        self.loaded.clear()
        return super().new_cache()

    def load(self, data: bytes) -> StaticCache:
        """The same cache for the same bytes, although another branch may be extending it."""
        if data not in self.loaded:
            self.loaded[data] = super().load(data)
        return self.loaded[data]


RESUMING = (
    Fault(
        id="static-resume-loses-last",
        host="static",
        kind="resume-after-preemption",
        mechanism="load",
        symptom="A request that was paused goes on without its last token.",
        law="save",
        reports=("GeeeekExplorer/nano-vllm#217",),
        make=stored_factory(static, LosesLast, StaticStorage),
        right=static,
        smallest="1 save 1",
    ),
    Fault(
        id="shared-resume-repeats-last",
        host="shared",
        kind="resume-after-preemption",
        mechanism="load",
        symptom="A request that was paused goes on with its last token twice.",
        law="save",
        reports=("vllm-project/vllm#17305",),
        make=stored_factory(shared, SharedDecoder, RepeatsLast),
        right=shared,
        smallest="1 save 1",
    ),
    Fault(
        id="shared-load-values-from-keys",
        host="shared",
        kind="value-taken-from-key",
        mechanism="load",
        symptom="A loaded cache has its keys in place of its values.",
        law="save",
        reports=("ikawrakow/ik_llama.cpp#1592",),
        make=stored_factory(shared, SharedDecoder, KeysAsValues),
        right=shared,
        smallest="1 save 1",
    ),
    Fault(
        id="copying-save-without-last-values",
        host="copying",
        kind="save-restore-incomplete",
        mechanism="save",
        symptom="The last layer of a loaded cache has its keys and no values.",
        law="save",
        reports=("ggml-org/llama.cpp#26676",),
        make=stored_factory(copying, StoredDecoder, LastLayerWithoutValues),
        right=copying,
        smallest="1 save 1",
        when="in the last layer alone",
    ),
    Fault(
        id="static-load-by-reference",
        host="static",
        kind="cache-aliasing-mutation",
        mechanism="load",
        symptom="A saved cache that is loaded twice holds the tokens that the first copy added.",
        law="save",
        reports=("MemTensor/MemOS#2301",),
        make=stored_factory(static, LoadsByReference, StaticStorage),
        right=static,
        smallest="1 save 1",
        when="the same bytes are loaded twice",
    ),
)
