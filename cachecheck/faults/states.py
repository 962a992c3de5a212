"""Recurrent states that belong to another length than the keys beside them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from cachecheck.faults.fault import Fault
from cachecheck.faults.recurrence import hybrid_factory
from cachecheck.reference.caches.hybrid import HybridDecoder, hybrid
from cachecheck.reference.caches.hybrid_cache import AttentionState, HybridCache, RecurrentState
from cachecheck.reference.caches.hybrid_weights import RecurrentWeights
from cachecheck.reference.weights import Floats


class PadsInTail(HybridDecoder):
    """Masks pads in attention and recurrence, and lets them into the convolution."""

    def _extend_row(self, tokens: Any, pads: int, past: HybridCache) -> tuple[Floats, HybridCache]:
        """The tails go through the pads first, tokens 0 as in a padded array."""
        if pads:
            _, padded = self.extend([0] * pads, past)
            pairs = zip(past.layers, padded.layers, strict=True)
            layers = [
                replace(old, tail=new.tail)
                if isinstance(old, RecurrentState) and isinstance(new, RecurrentState)
                else old
                for old, new in pairs
            ]
            past = replace(past, layers=tuple(layers))
        return self.extend(tokens, past)


class TailNotWritten(HybridDecoder):
    """Has a path for single tokens that reads the convolution's tail and forgets to move it."""

    def _recurrent_chunk(
        self, x: Floats, layer: RecurrentWeights, past: RecurrentState
    ) -> tuple[Floats, RecurrentState]:
        """The rows are right; the next call finds the old tail."""
        rows, after = super()._recurrent_chunk(x, layer, past)
        return rows, replace(after, tail=past.tail) if len(x) == 1 else after


class RollsKeysBack(HybridDecoder):
    """Takes tokens back from attention, where no window has evicted any, and from nothing else."""

    def crop(self, cache: HybridCache, length: int) -> HybridCache:
        """Keys and values of ``length`` tokens, and the recurrent state of all of them."""
        if self.window is not None and cache.length > self.window:
            return super().crop(cache, length)
        layers = [
            one
            if isinstance(one, RecurrentState)
            else AttentionState(one.key[:, :length], one.value[:, :length], one.positions[:length])
            for one in cache.layers
        ]
        return replace(cache, layers=tuple(layers), length=length)


class CarryLost(HybridDecoder):
    """Saves keys, values and the convolution's tail, and not the recurrent state."""

    def load(self, data: bytes) -> HybridCache:
        """The recurrence begins anew behind keys and values of many tokens."""
        cache = super().load(data)
        layers = [
            replace(one, carry=np.zeros_like(one.carry)) if isinstance(one, RecurrentState) else one
            for one in cache.layers
        ]
        return replace(cache, layers=tuple(layers))


STATES = (
    Fault(
        id="hybrid-pads-in-tail",
        host="hybrid",
        kind="padding-enters-recurrent-state",
        mechanism="recurrent state",
        symptom="The convolution of a shorter row reads the pads in front of it.",
        law="batch",
        reports=("gittensor-ai-lab/sparkinfer#604",),
        make=hybrid_factory(PadsInTail),
        right=hybrid,
        smallest="b=new*2 b:1/2",
    ),
    Fault(
        id="hybrid-tail-not-written",
        host="hybrid",
        kind="shift-state-not-written",
        mechanism="recurrent state",
        symptom="A call of one token does not update the stored inputs of the convolution.",
        law="schedule",
        reports=("fla-org/flash-linear-attention#1194",),
        make=hybrid_factory(TailNotWritten),
        right=hybrid,
        smallest="1+1",
        when="after a call of one token",
    ),
    Fault(
        id="hybrid-crop-keeps-state",
        host="hybrid",
        kind="recurrent-prefix-mismatch",
        mechanism="crop",
        symptom="A rollback takes tokens out of attention and leaves them in the recurrent state.",
        law="crop",
        reports=("vllm-project/vllm#55601", "sgl-project/sglang#24380"),
        make=hybrid_factory(RollsKeysBack),
        right=hybrid,
        smallest="2 crop1 1",
    ),
    Fault(
        id="hybrid-load-without-carry",
        host="hybrid",
        kind="recurrent-prefix-mismatch",
        mechanism="load",
        symptom="A loaded cache has all keys and values, and the recurrent state of no tokens.",
        law="save",
        reports=("LMCache/LMCache#4984",),
        make=hybrid_factory(CarryLost),
        right=hybrid,
        smallest="1 save 1",
    ),
)
