"""The bias that positions add to scores, and the rotation of keys, on one of two paths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cachecheck.faults.configurations import alibi, copying_fault, rotary
from cachecheck.reference.mechanisms import CachedCall, Mechanisms, VisibleKeys
from cachecheck.reference.positions import Ints, rotate
from cachecheck.reference.weights import Floats


class BiasOfChunkAlone(Mechanisms):
    """Builds the bias for the new tokens, and fills up with zeros."""

    def bias(self, call: CachedCall, keys: Ints) -> Floats | None:
        """Nothing for keys that are in the cache."""
        bias = super().bias(call, keys)  # (H, T, R)
        return None if bias is None else np.where(keys < call.past, 0, bias)


class BiasOfChunksOnly(Mechanisms):
    """Lost the bias on the path for single tokens."""

    def bias(self, call: CachedCall, keys: Ints) -> Floats | None:
        """None for one token."""
        return super().bias(call, keys) if call.new > 1 else None


@dataclass(frozen=True)
class ReplacedKeys:
    """Other keys in the place of what a cache gave."""

    key: Floats
    value: Floats
    positions: Ints


class RotatedAgain(Mechanisms):
    """Rotates what is in the cache once more when it is read."""

    def visible_keys(self, call: CachedCall, layer: int, keys: VisibleKeys) -> VisibleKeys:  # noqa: ARG002, D102
        again = np.where(keys.positions < call.past, keys.positions, 0)  # (R,)
        return ReplacedKeys(rotate(keys.key, again), keys.value, keys.positions)


class CurrentUnrotated(Mechanisms):
    """Rotates keys on their way into the cache, and attends to the chunk's own unrotated."""

    def visible_keys(self, call: CachedCall, layer: int, keys: VisibleKeys) -> VisibleKeys:  # noqa: ARG002, D102
        back = np.where(keys.positions < call.past, 0, -keys.positions)  # (R,)
        return ReplacedKeys(rotate(keys.key, back), keys.value, keys.positions)


class SinglesUnrotated(Mechanisms):
    """Forgets the keys' rotation on the path for single tokens."""

    def stored(  # noqa: D102
        self,
        call: CachedCall,
        layer: int,  # noqa: ARG002
        key: Floats,
        value: Floats,
    ) -> tuple[Floats, Floats]:
        return (rotate(key, -call.positions) if call.new == 1 else key), value


SCORES = (
    copying_fault(
        "bias-of-chunk",
        "The bias on the scores is built for the chunk, and cached keys get none.",
        BiasOfChunkAlone,
        kind="bias-built-on-query-length",
        mechanism="bias",
        reports=("huggingface/candle#899",),
        smallest="1+1",
        changes=alibi,
    ),
    copying_fault(
        "bias-of-chunks-only",
        "Single tokens attend without the bias on the scores.",
        BiasOfChunksOnly,
        kind="bias-built-on-query-length",
        mechanism="bias",
        reports=("HabanaAI/vllm-hpu-extension#18",),
        smallest="1+1",
        changes=alibi,
    ),
    copying_fault(
        "keys-rotated-twice",
        "Cached keys are rotated once more whenever they are read.",
        RotatedAgain,
        kind="key-rotation-missing-or-twice",
        mechanism="rotate",
        reports=("NeuraLegion/shainet#110",),
        smallest="2+1",
        changes=rotary,
    ),
    copying_fault(
        "keys-rotated-late",
        "A chunk attends to its own keys before they are rotated.",
        CurrentUnrotated,
        kind="key-rotation-missing-or-twice",
        mechanism="rotate",
        reports=("kvcache-ai/sglang#66", "kvcache-ai/sglang#31"),
        smallest="2",
        changes=rotary,
    ),
    copying_fault(
        "keys-of-singles-unrotated",
        "The keys of calls with a single token are stored without rotation.",
        SinglesUnrotated,
        kind="key-rotation-missing-or-twice",
        mechanism="rotate",
        reports=("kvcache-ai/sglang#31",),
        smallest="1+1",
        changes=rotary,
    ),
)
