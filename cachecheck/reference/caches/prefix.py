"""Paged blocks that are found again by their content: full ones are shared between caches.

A block that is full is published under all tokens from position 0 to its end. A call whose tokens
complete the same block, in whatever cache, attends over the published one, and its table refers to
it. Rows are computed for every token all the same: the border asks for them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from cachecheck.reference.cache import LayerCache, LayerState
from cachecheck.reference.caches.allocator import BlockAllocator
from cachecheck.reference.caches.paged import BlockPool, PagedCache, PagedLayer, PagedStorage
from cachecheck.reference.config import Config
from cachecheck.reference.positions import Ints
from cachecheck.reference.weights import Floats, Weights


class PublishingAllocator(BlockAllocator):
    """Reference counts, and which used block is found under which key."""

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        self.published: dict[Hashable, int] = {}

    def release(self, block: int) -> None:
        """One reference less; with the last one a block is no longer found."""
        super().release(block)
        if self.count(block) == 0:
            self.forget(block)

    def forget(self, block: int) -> None:
        """Take ``block`` from those that are found."""
        self.published = {key: one for key, one in self.published.items() if one != block}

    def check(self, tables: Iterable[Iterable[int]]) -> None:
        """Compare the counts, and check that no free block can be found.

        Raises:
            AssertionError: naming the first block whose account is wrong.
        """
        super().check(tables)
        for block in self.published.values():
            if self.count(block) == 0:
                raise AssertionError(f"block {block} is free, and still found under its key")


class PrefixPool(BlockPool):
    """Blocks that may be published; how many were found is counted.

    Attributes:
        found_blocks: times that a block was used again.
    """

    allocator: PublishingAllocator

    def __init__(self, config: Config, block_size: int) -> None:
        super().__init__(config, block_size)
        self.allocator = PublishingAllocator(self.allocator.capacity)
        self.found_blocks = 0

    def writable_block(self, block: int) -> int:
        """``block``, no longer found since it is about to be written, or a copy if it is shared."""
        if self.allocator.count(block) == 1:
            self.allocator.forget(block)
        return super().writable_block(block)


@dataclass(frozen=True)
class PrefixLayer(PagedLayer):
    """One layer of a cache, with found blocks in place of what was just computed."""

    cache: PrefixCache

    def append(self, key: Floats, value: Floats, positions: Ints) -> LayerCache:
        """The blocks' content and the chunk together; nothing is written yet."""
        whole, pool = super().append(key, value, positions), self.cache.pool
        key, value = whole.key.copy(), whole.value.copy()  # (G, S+T, D)
        for number, block in self.cache.found.items():
            span = slice(number * pool.block_size, (number + 1) * pool.block_size)
            key[:, span] = pool.key[self.number, block]  # (G, P, D)
            value[:, span] = pool.value[self.number, block]  # (G, P, D)
        return LayerCache(key, value, whole.positions)


@dataclass(eq=False)
class PrefixCache(PagedCache):
    """A block table, and the tokens by which its blocks are found.

    Attributes:
        tokens: all so far, from position 0.
        pending: tokens of the call under way.
        found: published blocks that the call under way completes, by their place in the table.
    """

    pool: PrefixPool
    tokens: list[int] = field(default_factory=list)
    pending: list[int] = field(default_factory=list)
    found: dict[int, int] = field(default_factory=dict)

    @property
    def layers(self) -> tuple[PrefixLayer, ...]:
        """A view of each layer."""
        return tuple(PrefixLayer(self, number) for number in range(self.pool.key.shape[0]))

    def look_up(self, tokens: Sequence[int]) -> None:
        """Look up the published blocks that a call of ``tokens`` completes, anew for each call."""
        self.pending = [int(token) for token in tokens]
        published, size = self.pool.allocator.published, self.pool.block_size
        completed = range(self.length // size, (self.length + len(tokens)) // size)
        keys = {number: self.key([*self.tokens, *self.pending], number) for number in completed}
        self.found = {n: published[key] for n, key in keys.items() if key in published}

    def key(self, tokens: Sequence[int], number: int) -> Hashable:
        """The key that a full block is found under: all that its keys and values depend on."""
        return tuple(tokens[: (number + 1) * self.pool.block_size])

    def commit(self, appended: Sequence[LayerCache], new: int, config: Config) -> Self:
        """Write the chunk, refer to found blocks in place of ours, publish what is full now."""
        start, allocator = self.length, self.pool.allocator
        for block in self.found.values():
            allocator.share(block)  # before anything is written, so that no found block is
        super().commit(appended, new, config)
        self.tokens += self.pending
        for number, block in self.found.items():
            self.point_to(number, block)
        self.pool.found_blocks += len(self.found)
        self.publish(start)
        return self

    def point_to(self, number: int, block: int) -> None:
        """Put a found block into this place of the table; its reference is counted already."""
        self.pool.allocator.release(self.table[number])
        self.table[number] = block

    def publish(self, start: int) -> None:
        """Publish the blocks that were filled from position ``start`` on."""
        size = self.pool.block_size
        for number in range(start // size, self.length // size):
            key = self.key(self.tokens, number)
            self.pool.allocator.published[key] = self.table[number]

    def crop(self, length: int) -> Self:
        """Drop the tokens beyond; a published block that is now partly filled stays published."""
        del self.tokens[length:]
        return super().crop(length)

    def fork(self) -> Self:
        """The same blocks through a table of its own."""
        for block in self.table:
            self.pool.allocator.share(block)
        counts = (self.length, self.last_chunk)
        copy = type(self)(self.pool, self.fingerprint, *counts, list(self.table))
        copy.tokens = list(self.tokens)
        return copy

    def state(self) -> list[LayerState]:
        """Per layer, what the block table leads to; with the first one, the tokens (S,)."""
        first, *rest = super().state()
        return [{**first, "tokens": np.array(self.tokens, np.int64)}, *rest]


class PrefixStorage(PagedStorage):
    """The storage: one pool for all caches of a decoder, and one set of published blocks."""

    cache_type: type[PrefixCache] = PrefixCache
    pool: PrefixPool

    def __init__(self, weights: Weights, block_size: int) -> None:
        super().__init__(weights, block_size)
        self.pool = PrefixPool(weights.config, block_size)

    def new(self) -> PrefixCache:
        """An empty block table."""
        return self.cache_type(self.pool, self.weights.fingerprint, 0, 0, [])

    def restore(self, layers: Sequence[LayerState], length: int, last_chunk: int) -> PrefixCache:
        """Found blocks where there are some, fresh ones with the saved arrays elsewhere."""
        cache, config = self.new(), self.weights.config
        appended = [LayerCache(one["key"], one["value"], one["positions"]) for one in layers]
        cache.look_up(layers[0]["tokens"].tolist())
        cache.commit(appended, length, config).last_chunk = last_chunk
        return cache
