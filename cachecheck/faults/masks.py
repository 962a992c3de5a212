"""Masks of the cached pass that align rows and keys in the wrong way."""

from __future__ import annotations

import numpy as np

from cachecheck.faults.configurations import copying_fault, several_heads, several_layers
from cachecheck.reference.masks import WRONG_MASKS, Bools
from cachecheck.reference.mechanisms import CachedCall, Mechanisms
from cachecheck.reference.positions import Ints


class ChunkAlone(Mechanisms):
    """Cuts the keys to as many as there are queries, so that a square mask fits."""

    def mask(self, call: CachedCall, layer: int, keys: Ints) -> Bools:
        """The chunk's own triangle; everything before it is hidden."""
        return np.asarray(super().mask(call, layer, keys) & (keys >= call.past))


class SquareOnTheLeft(Mechanisms):
    """Lays a square triangle over the first keys instead of the last."""

    def mask(self, call: CachedCall, layer: int, keys: Ints) -> Bools:  # noqa: ARG002
        """A triangle over the first T keys; the keys after them stay visible."""
        visible = np.ones((call.new, len(keys)), bool)  # (T, R)
        visible[:, : call.new] = np.tri(call.new, dtype=bool)
        return visible


class HistoryHidden(Mechanisms):
    """A path for chunks that attends to the chunk alone; single tokens see the cache."""

    def mask(self, call: CachedCall, layer: int, keys: Ints) -> Bools:
        """Right for one token."""
        visible = super().mask(call, layer, keys)
        return visible if call.new == 1 else np.asarray(visible & (keys >= call.past))


class OneHeadAhead(Mechanisms):
    """The last head's offset is one too many."""

    def mask(self, call: CachedCall, layer: int, keys: Ints) -> Bools:
        """Head by head: (H, T, R)."""
        visible = super().mask(call, layer, keys)  # (T, R)
        masks = np.repeat(visible[None], call.config.heads, axis=0)  # (H, T, R)
        masks[-1] = keys <= call.positions[:, None] + 1
        return masks


class OneLayerUnmasked(Mechanisms):
    """The last layer has no mask inside the chunk."""

    def mask(self, call: CachedCall, layer: int, keys: Ints) -> Bools:
        """Right in all other layers."""
        visible = super().mask(call, layer, keys)
        last = layer == call.config.layers - 1
        return np.asarray(visible | (keys >= call.past)) if last else visible


def _named(name: str) -> type[Mechanisms]:
    """Mechanisms with one of the wrong masks."""

    class Named(Mechanisms):
        def __init__(self) -> None:
            super().__init__(WRONG_MASKS[name].rule)

    return Named


MASKS = (
    copying_fault(
        "mask-top-left",
        "The causal mask of a chunk starts at the first key, as if there were no history.",
        _named("query-restart"),
        kind="mask-topleft-alignment",
        mechanism="mask",
        reports=(
            "pytorch/pytorch#103082",
            "Dao-AILab/flash-attention#282",
            "facebookresearch/xformers#931",
        ),
        smallest="1+1",
    ),
    copying_fault(
        "mask-one-short",
        "The offset of a chunk's mask is one too small, so that a row does not see its own token.",
        _named("offset-too-small"),
        kind="mask-topleft-alignment",
        mechanism="mask",
        reports=("Dao-AILab/flash-attention#436",),
        smallest="1+1",
    ),
    copying_fault(
        "mask-one-far",
        "The offset of a chunk's mask is one too large, so that a row sees the token after it.",
        _named("offset-too-large"),
        kind="mask-topleft-alignment",
        mechanism="mask",
        reports=("Dao-AILab/flash-attention#466",),
        smallest="2",
    ),
    copying_fault(
        "mask-one-position",
        "All rows of a chunk see what its first row sees.",
        _named("one-position"),
        kind="mask-topleft-alignment",
        mechanism="mask",
        reports=("NVIDIA/TransformerEngine#399",),
        smallest="2",
    ),
    copying_fault(
        "mask-last-chunk",
        "The offset of a chunk's mask is the length of the last call instead of the whole history.",
        _named("last-chunk-offset"),
        kind="mask-topleft-alignment",
        mechanism="mask",
        reports=("lucidrains/x-transformers#187",),
        smallest="1+1+1",
    ),
    copying_fault(
        "mask-missing",
        "There is no mask inside a chunk once a cache object is given.",
        _named("no-chunk-mask"),
        kind="mask-omitted-when-cache-present",
        mechanism="mask",
        reports=("huggingface/transformers#31943", "Mikyx-1/TinyLLM#17"),
        smallest="2",
    ),
    copying_fault(
        "mask-square-cut",
        "To fit a square mask, the keys are cut to the chunk's own.",
        ChunkAlone,
        kind="mask-square-on-warm-cache",
        mechanism="mask",
        reports=("rasbt/LLMs-from-scratch#697", "huggingface/candle#3743"),
        smallest="1+1",
    ),
    copying_fault(
        "mask-square-left",
        "A square mask is laid over the first keys and leaves the last ones visible.",
        SquareOnTheLeft,
        kind="mask-square-on-warm-cache",
        mechanism="mask",
        reports=("meta-llama/llama#899", "chengchingwen/Transformers.jl#55"),
        smallest="1+2",
    ),
    copying_fault(
        "mask-history-hidden",
        "A chunk after a cached prefix attends to its own tokens alone.",
        HistoryHidden,
        kind="cached-prefix-not-consumed",
        mechanism="mask",
        reports=("Wenyueh/MinivLLM#98", "tenstorrent/vllm#415"),
        smallest="1+2",
    ),
    copying_fault(
        "mask-one-head",
        "In one head alone a row sees the token after it.",
        OneHeadAhead,
        kind="mask-topleft-alignment",
        mechanism="mask",
        reports=("Dao-AILab/flash-attention#466",),
        smallest="2",
        changes=several_heads,
    ),
    copying_fault(
        "mask-one-layer",
        "In one layer alone there is no mask inside a chunk.",
        OneLayerUnmasked,
        kind="mask-omitted-when-cache-present",
        mechanism="mask",
        reports=("tenstorrent/tt-metal#48899",),
        smallest="2",
        changes=several_layers,
    ),
)
