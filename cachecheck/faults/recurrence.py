"""Hybrid decoders that lose their state between calls, mix it up, or let pads into it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from cachecheck.faults.fault import Fault, Make
from cachecheck.reference.caches.hybrid import HybridDecoder, hybrid
from cachecheck.reference.caches.hybrid_batch import HybridBatch
from cachecheck.reference.caches.hybrid_cache import HybridCache, RecurrentState
from cachecheck.reference.caches.hybrid_weights import RecurrentWeights
from cachecheck.reference.config import Precision
from cachecheck.reference.weights import Floats


class RestartsOnChunks(HybridDecoder):
    """Has a path for single tokens that goes on, and one for chunks that starts anew."""

    def _recurrent_chunk(
        self, x: Floats, layer: RecurrentWeights, past: RecurrentState
    ) -> tuple[Floats, RecurrentState]:
        """From a state of zero, unless it is for one token."""
        if len(x) > 1:
            past = replace(past, carry=np.zeros_like(past.carry))
        return super()._recurrent_chunk(x, layer, past)


class WithoutTail(HybridDecoder):
    """Pads the convolution of every call with zeros."""

    def _recurrent_chunk(
        self, x: Floats, layer: RecurrentWeights, past: RecurrentState
    ) -> tuple[Floats, RecurrentState]:
        """As if no token came before the chunk; the recurrence goes on."""
        past = replace(past, tail=np.zeros_like(past.tail))
        return super()._recurrent_chunk(x, layer, past)


class TakesPadsIn(HybridDecoder):
    """Masks pads in attention, and lets them into convolution and recurrence."""

    def _extend_row(self, tokens: Any, pads: int, past: HybridCache) -> tuple[Floats, HybridCache]:
        """The recurrent states go through the pads first, tokens 0 as in a padded array."""
        if pads:
            _, padded = self.extend([0] * pads, past)
            pairs = zip(past.layers, padded.layers, strict=True)
            layers = [new if isinstance(new, RecurrentState) else old for old, new in pairs]
            past = replace(past, layers=tuple(layers))
        return self.extend(tokens, past)


class SkipsLayer(HybridDecoder):
    """Leaves the last layer's keys and values where they are in a reorder."""

    def reorder(self, cache: HybridBatch, rows: Any) -> HybridBatch:
        """Right but for the last layer, whose first rows stay, repeated where there are too few."""
        after = super().reorder(cache, rows)
        stay = [cache.rows[at % len(cache.rows)] for at in range(len(rows))]
        pairs = zip(after.rows, stay, strict=True)
        return HybridBatch(
            tuple(replace(new, layers=(*new.layers[:-1], old.layers[-1])) for new, old in pairs)
        )


def hybrid_factory(decoder: type[HybridDecoder]) -> Make:
    """A factory of ``decoder`` with the configurations of the right kind."""

    def make(seed: int, dtype: Precision = "float64") -> HybridDecoder:
        right = hybrid(seed, dtype)
        return decoder(right.config, kernel_width=right.weights.kernel_width, seed=seed)

    return make


RECURRENCE = (
    Fault(
        id="hybrid-recurrence-restarts",
        host="hybrid",
        kind="recurrent-chunk-drops-state",
        mechanism="recurrent state",
        symptom="A chunk of two or more tokens starts the recurrence anew.",
        law="schedule",
        reports=("huggingface/transformers#46032",),
        make=hybrid_factory(RestartsOnChunks),
        right=hybrid,
        smallest="1+2",
    ),
    Fault(
        id="hybrid-convolution-forgets",
        host="hybrid",
        kind="recurrent-chunk-drops-state",
        mechanism="recurrent state",
        symptom="The convolution reads zeros instead of the last tokens of the call before.",
        law="schedule",
        reports=(
            "kekzl/imp#156",
            "mratsim/tattletale#80",
        ),
        make=hybrid_factory(WithoutTail),
        right=hybrid,
        smallest="1+1",
    ),
    Fault(
        id="hybrid-pads-in-state",
        host="hybrid",
        kind="padding-enters-recurrent-state",
        mechanism="recurrent state",
        symptom="The pads in front of a shorter row enter its recurrent state.",
        law="batch",
        reports=(
            "ml-explore/mlx-lm#1736",
            "lightseekorg/tokenspeed#969",
        ),
        make=hybrid_factory(TakesPadsIn),
        right=hybrid,
        smallest="b=new*2 b:1/2",
    ),
    Fault(
        id="hybrid-reorder-skips-layer",
        host="hybrid",
        kind="beam-reorder-missing",
        mechanism="reorder",
        symptom="A beam search moves the histories of its rows in all layers but the last.",
        law="reorder",
        reports=(
            "huggingface/transformers#46612",
            "huggingface/transformers#29730",
        ),
        make=hybrid_factory(SkipsLayer),
        right=hybrid,
        smallest="b=new*2 b:1/1 c=b[1] c:1",
    ),
)
