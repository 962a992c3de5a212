"""Scales of quantised caches that a file does not hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cachecheck.faults.fault import Fault, Make
from cachecheck.reference.cache import LayerState
from cachecheck.reference.caches.quantised import (
    QuantisedCache,
    QuantisedDecoder,
    QuantisedStorage,
    quantised,
)
from cachecheck.reference.config import Precision
from cachecheck.reference.weights import Floats

_SCALES = ("key_scale", "value_scale")


class ScalesLost(QuantisedStorage):
    """Loads codes alone."""

    def restore(self, layers: Sequence[LayerState], length: int, last_chunk: int) -> QuantisedCache:
        """Scales of 1."""
        lost = [
            one | {name: np.ones_like(one[name]) for name in _SCALES} for one in map(dict, layers)
        ]
        return super().restore(lost, length, last_chunk)


class ScalesOfFirstHead(QuantisedStorage):
    """Saves one scale a token, as if there were one head."""

    def restore(self, layers: Sequence[LayerState], length: int, last_chunk: int) -> QuantisedCache:
        """Scales of 1 in all heads but the first."""
        first = [dict(one) | {name: _first(one[name]) for name in _SCALES} for one in layers]
        return super().restore(first, length, last_chunk)


def _first(scale: Floats) -> Floats:
    """(G, R), those of the first head alone."""
    return np.concatenate([scale[:1], np.ones_like(scale[1:])])


def two_heads(seed: int, dtype: Precision = "float64") -> QuantisedDecoder:
    """The right kind with two heads of keys and values."""
    config = replace(quantised(seed, dtype).config, heads=2, key_value_heads=2)
    return QuantisedDecoder(config, seed=seed)


def quantised_factory(storage: type[QuantisedStorage], right: Make = quantised) -> Make:
    """A factory of decoders over ``storage``, with the configurations that ``right`` draws."""

    def make(seed: int, dtype: Precision = "float64") -> QuantisedDecoder:
        decoder = QuantisedDecoder(right(seed, dtype).config, seed=seed)
        decoder.storage = storage(decoder.weights)
        return decoder

    return make


SCALES = (
    Fault(
        id="quantised-load-drops-scales",
        host="quantised",
        kind="quant-scale-lost",
        mechanism="load",
        symptom="A loaded cache has its codes, and scales of 1.",
        law="save",
        reports=("vllm-project/vllm#3234",),
        make=quantised_factory(ScalesLost),
        right=quantised,
        smallest="1 save 1",
    ),
    Fault(
        id="quantised-load-scales-of-first-head",
        host="quantised",
        kind="quant-scale-lost",
        mechanism="load",
        symptom="A loaded cache has the scales of its first head, and 1 in all others.",
        law="save",
        reports=("kekzl/imp#1189",),
        make=quantised_factory(ScalesOfFirstHead, two_heads),
        right=two_heads,
        smallest="1 save 1",
        when="in heads after the first",
    ),
)
