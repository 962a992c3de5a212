"""Preallocated buffers that are not emptied, or not refused when they are full."""

from __future__ import annotations

from typing import Any

import numpy as np

from cachecheck.faults.fault import Fault, stored_factory
from cachecheck.reference.caches.static import StaticCache, StaticStorage, static
from cachecheck.reference.stored import InPlaceDecoder
from cachecheck.reference.weights import Floats


class LengthStays(InPlaceDecoder[StaticCache]):
    """Empties the buffers in a reset and leaves their length."""

    def reset(self, cache: StaticCache) -> StaticCache:
        """Zeros, as many as there were tokens."""
        for layer in cache.layers:
            layer.key[:] = 0
            layer.value[:] = 0
        return cache


class Clamping(InPlaceDecoder[StaticCache]):
    """Writes tokens that no longer fit into the last slot."""

    def extend(self, tokens: Any, cache: StaticCache) -> tuple[Floats, StaticCache]:
        """Token by token where the buffer ends, so that each takes the last one's place."""
        room = cache.layers[0].key.shape[1]
        if cache.length + len(tokens) <= room:
            return super().extend(tokens, cache)
        rows = []
        for token in tokens:
            if cache.length == room:
                cache.crop(room - 1)
            some, cache = super().extend([token], cache)
            rows.append(some)
        return np.concatenate(rows), cache


class OneTooMany(Clamping):
    """Compares the length before a token with the slots, instead of the length after it."""

    def extend(self, tokens: Any, cache: StaticCache) -> tuple[Floats, StaticCache]:
        """One token more than there are slots gets the last one's place; others are refused."""
        if cache.length + len(tokens) > cache.layers[0].key.shape[1] + 1:
            return InPlaceDecoder.extend(self, tokens, cache)
        return super().extend(tokens, cache)


class Wrapping(InPlaceDecoder[StaticCache]):
    """Takes slots modulo their number."""

    def extend(self, tokens: Any, cache: StaticCache) -> tuple[Floats, StaticCache]:
        """Tokens that no longer fit go to slot 0 and on, as a sequence of their own."""
        room = cache.layers[0].key.shape[1]
        rows, at = [], 0
        while at < len(tokens):
            if cache.length == room:
                cache.clear()
            stop = at + room - cache.length
            some, cache = super().extend(tokens[at:stop], cache)
            rows.append(some)
            at = stop
        return np.concatenate(rows), cache


BUFFERS = (
    Fault(
        id="static-reset-keeps-length",
        host="static",
        kind="reset-incomplete",
        mechanism="reset",
        symptom="After a reset the next request begins after as many empty slots as were in use.",
        law="reset",
        reports=(
            "huggingface/transformers#48809",
            "rasbt/LLMs-from-scratch#925",
        ),
        make=stored_factory(static, LengthStays, StaticStorage),
        right=static,
        smallest="1 reset 1",
    ),
    Fault(
        id="static-overflow-clamps",
        host="static",
        kind="capacity-overflow-silent",
        mechanism="overflow",
        symptom="A full buffer overwrites its last slot instead of raising an error.",
        law="overflow",
        reports=("jax-ml/jax#34257",),
        make=stored_factory(static, Clamping, StaticStorage),
        right=static,
        smallest="1",
    ),
    Fault(
        id="static-overflow-off-by-one",
        host="static",
        kind="capacity-overflow-silent",
        mechanism="overflow",
        symptom="A buffer accepts one token more than it has slots before it raises.",
        law="overflow",
        reports=("gittensor-ai-lab/sparkinfer#143",),
        make=stored_factory(static, OneTooMany, StaticStorage),
        right=static,
        smallest="1",
    ),
    Fault(
        id="static-overflow-wraps",
        host="static",
        kind="capacity-overflow-silent",
        mechanism="overflow",
        symptom="A full buffer continues at slot 0 and overwrites the first tokens.",
        law="overflow",
        reports=("neuralmagic/deepsparse#1447",),
        make=stored_factory(static, Wrapping, StaticStorage),
        right=static,
        smallest="1",
    ),
)
