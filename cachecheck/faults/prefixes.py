"""Stored prefixes that are found for other tokens, that are stale, or that end up elsewhere."""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Sequence
from typing import Any

from cachecheck.faults.fault import Fault, Make
from cachecheck.reference.cache import LayerState
from cachecheck.reference.caches.allocator import BlockAllocator
from cachecheck.reference.caches.prefix import PrefixCache, PrefixStorage, PublishingAllocator
from cachecheck.reference.caches.prefix_decoder import PrefixDecoder, prefix
from cachecheck.reference.config import Precision

HASHES = 3
"""Different keys that `KeyCollides` has."""


class KeyOfBlockAlone(PrefixCache):
    """Finds a block under its own tokens."""

    def key(self, tokens: Sequence[int], number: int) -> Hashable:
        """Without what came before them."""
        size = self.pool.block_size
        return tuple(tokens[number * size : (number + 1) * size])


class KeyCollides(PrefixCache):
    """Finds a block under a hash of few bits, and never compares tokens."""

    def key(self, tokens: Sequence[int], number: int) -> Hashable:
        """Of all the tokens up to the block's end."""
        return zlib.crc32(repr(super().key(tokens, number)).encode()) % HASHES


class NeverForgotten(PublishingAllocator):
    """Keeps a block findable when it is free, and when it has been handed out again.

    Nothing is found any more when no block is in use: a case must not depend on the one before.
    """

    def release(self, block: int) -> None:
        """One reference less; the key stays."""
        BlockAllocator.release(self, block)
        if self.used() == 0:
            self.published.clear()

    def share(self, block: int) -> None:
        """One reference more; a free block is taken back into use."""
        if self.count(block) == 0:
            self._free.remove(block)
            self._counts[block] = 1
        else:
            super().share(block)


class PublishedEarly(PrefixCache):
    """Publishes the last block before it is full."""

    def publish(self, start: int) -> None:
        """Its key is made from a buffer of tokens that is 0 where none has come yet."""
        super().publish(start)
        missing = -self.length % self.pool.block_size
        if missing:
            key = self.key([*self.tokens, *[0] * missing], len(self.table) - 1)
            self.pool.allocator.published[key] = self.table[-1]


class ReferredLast(PrefixCache):
    """Puts found blocks into the last place of the table, right in a call of one token."""

    def point_to(self, number: int, block: int) -> None:  # noqa: ARG002
        """Whatever place in the sequence it is for."""
        super().point_to(-1, block)


class ResumesShort(PrefixStorage):
    """Goes on from the end of the blocks that were found."""

    def restore(self, layers: Sequence[LayerState], length: int, last_chunk: int) -> PrefixCache:
        """If any were found, the tokens after them are lost, the partly filled block at least."""
        cache = super().restore(layers, length, last_chunk)
        return cache.crop(len(cache.found) * self.pool.block_size) if cache.found else cache


def _with_cache(cache_type: type[PrefixCache]) -> Make:
    def make(seed: int, dtype: Precision = "float64") -> PrefixDecoder:
        decoder = prefix(seed, dtype)
        decoder.storage.cache_type = cache_type
        return decoder

    return make


def _never_forgotten(seed: int, dtype: Precision = "float64") -> PrefixDecoder:
    decoder = prefix(seed, dtype)
    pool = decoder.storage.pool
    pool.allocator = NeverForgotten(pool.allocator.capacity)
    return decoder


def _resumes_short(seed: int, dtype: Precision = "float64") -> Any:
    decoder = prefix(seed, dtype)
    decoder.storage = ResumesShort(decoder.weights, decoder.storage.pool.block_size)
    return decoder


PREFIXES = (
    Fault(
        id="prefix-key-of-block-alone",
        host="prefix",
        kind="prefix-key-incomplete",
        mechanism="prefix key",
        symptom="A block is found by its own tokens, whatever tokens came before it.",
        law="branch",
        reports=("vllm-project/vllm#3264",),
        make=_with_cache(KeyOfBlockAlone),
        right=prefix,
        smallest="2+2",
    ),
    Fault(
        id="prefix-key-collides",
        host="prefix",
        kind="prefix-key-incomplete",
        mechanism="prefix key",
        symptom="A block is found by a hash that other tokens have as well, and tokens are never "
        "compared.",
        law="branch",
        reports=("openvinotoolkit/openvino.genai#3722",),
        make=_with_cache(KeyCollides),
        right=prefix,
        smallest="2+2",
    ),
    Fault(
        id="prefix-stale-block-found",
        host="prefix",
        kind="stale-block-reuse",
        mechanism="published blocks",
        symptom="A block that was given back and filled anew is still found by its old tokens.",
        law="crop",
        reports=(
            "GeeeekExplorer/nano-vllm#163",
            "ovg-project/kvcached#362",
        ),
        make=_never_forgotten,
        right=prefix,
        smallest="4 crop1",
    ),
    Fault(
        id="prefix-published-early",
        host="prefix",
        kind="stale-block-reuse",
        mechanism="published blocks",
        symptom="A partly filled block is found as if token 0 filled the rest of it.",
        law="branch",
        reports=("vllm-project/vllm#37152",),
        make=_with_cache(PublishedEarly),
        right=prefix,
        smallest="1+1",
    ),
    Fault(
        id="prefix-hit-in-wrong-slot",
        host="prefix",
        kind="page-table-wrong",
        mechanism="block table",
        symptom="A found block goes to the end of the table although the call has blocks after it.",
        law="branch",
        reports=("vllm-project/vllm#5412",),
        make=_with_cache(ReferredLast),
        right=prefix,
        smallest="2 b=new b:3+1",
        when="a found block is not the last one of its call",
    ),
    Fault(
        id="prefix-resumes-short",
        host="prefix",
        kind="resume-after-preemption",
        mechanism="load",
        symptom="A loaded cache continues at the end of the blocks that were found and loses the "
        "tokens after them.",
        law="save",
        reports=("vllm-project/vllm#17305",),
        make=_resumes_short,
        right=prefix,
        smallest="3 save 1",
        when="a block is found, and the last one is partly filled",
    ),
)
