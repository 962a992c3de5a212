"""Layers without keys and values of their own that mistreat those of another layer."""

from __future__ import annotations

import numpy as np

from cachecheck.faults.fault import Fault, Make
from cachecheck.reference.attention import attention
from cachecheck.reference.cache import LayerCache
from cachecheck.reference.caches.tied import TiedDecoder, tied
from cachecheck.reference.caches.tied_attention import receiver_output, receiver_queries
from cachecheck.reference.config import Config, Precision
from cachecheck.reference.layers import normalise, project, score_bias
from cachecheck.reference.masks import offset_mask
from cachecheck.reference.positions import Ints
from cachecheck.reference.weights import Floats, draw_weights


class WritesItsOwn(TiedDecoder):
    """Has projections in its receivers, and a cache write after every layer."""

    def __init__(self, config: Config, *, seed: int = 0) -> None:
        super().__init__(config, seed=seed)
        self.unused = draw_weights(config, seed + 1).layers  # the right decoder has none

    def _receive(
        self, x: Floats, number: int, past: LayerCache, visible: LayerCache, positions: Ints
    ) -> tuple[Floats, LayerCache]:
        """Attends over the owner's, and has its own kept in their slots."""
        after, _ = super()._receive(x, number, past, visible, positions)  # (T, width)
        normal = normalise(x, self.config)  # (T, width)
        _, key, value = project(
            normal, self.unused[number], self.config, positions, None
        )  # (G, T, D) keys and values
        return after, past.append(key, value, positions)  # (T, width), (G, R+T, D)


class ReadsBefore(TiedDecoder):
    """Reads the owner's slots before the chunk is written into them."""

    def _receive(
        self, x: Floats, number: int, past: LayerCache, visible: LayerCache, positions: Ints
    ) -> tuple[Floats, LayerCache]:
        """The chunk's slots are empty still; the first call has no cache to read."""
        read = visible
        if past.length:
            config = self.config
            empty = np.zeros((config.key_value_heads, len(x), config.head_width), x.dtype)
            read = past.append(empty, empty, positions)  # (G, R+T, D) keys and values
        after, _ = super()._receive(x, number, past, read, positions)  # (T, width)
        return after, visible


class BoundaryAfterAppend(TiedDecoder):
    """Lets every row see all keys below the owner's length, which counts the chunk by then."""

    def _receive(
        self, x: Floats, number: int, past: LayerCache, visible: LayerCache, positions: Ints
    ) -> tuple[Floats, LayerCache]:
        """Right in the first call, which has no boundary."""
        if past.length == 0:
            return super()._receive(x, number, past, visible, positions)
        config, receiver, keys = self.config, self.receivers[number], visible.positions
        mask = offset_mask(positions, keys, window=config.window, sinks=config.sinks)  # (T, R+T)
        mask |= (keys > positions[:, None]) & (keys < visible.length)  # (T, R+T)
        query = receiver_queries(x, receiver, config, positions, self._work)  # (H, T, D)
        bias = score_bias(config, positions, keys)  # (H, T, R+T) or None
        mixed, _ = attention(query, visible.key, visible.value, mask, bias=bias)  # (H, T, D)
        return receiver_output(x, mixed, receiver), visible  # (T, width)


def _tied(decoder: type[TiedDecoder]) -> Make:
    def make(seed: int, dtype: Precision = "float64") -> TiedDecoder:
        return decoder(tied(seed, dtype).config, seed=seed)

    return make


SHARING = (
    Fault(
        id="tied-receiver-writes",
        host="tied",
        kind="shared-kv-layer-mishandled",
        mechanism="shared keys and values",
        symptom="A layer that uses another's keys and values writes its own over them.",
        law="schedule",
        reports=("vllm-project/vllm-ascend#11791",),
        make=_tied(WritesItsOwn),
        right=tied,
        smallest="1+1",
    ),
    Fault(
        id="tied-receiver-reads-before",
        host="tied",
        kind="shared-kv-layer-mishandled",
        mechanism="shared keys and values",
        symptom="A layer reads another's keys and values before those of the chunk are there.",
        law="schedule",
        reports=("huggingface/transformers#45253",),
        make=_tied(ReadsBefore),
        right=tied,
        smallest="1+1",
    ),
    Fault(
        id="tied-boundary-after-append",
        host="tied",
        kind="shared-kv-layer-mishandled",
        mechanism="mask",
        symptom="A layer that uses another's keys and values takes all of them for history, those "
        "of the chunk included.",
        law="schedule",
        reports=("trymirai/lalamo#291",),
        make=_tied(BoundaryAfterAppend),
        right=tied,
        smallest="1+2",
        when="a chunk of two or more tokens onto history",
    ),
)
