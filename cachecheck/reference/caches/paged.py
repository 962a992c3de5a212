"""Blocks from a pool, found through a block table per cache and shared by its forks.

A fork shares every block. Appending into a partly filled block that is shared copies it first
(copy on write), so that a branch never sees its sibling. A window is only a mask: no block is
given back before `crop`, `reset` or `release`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from cachecheck.reference.cache import LayerCache, LayerState
from cachecheck.reference.caches.allocator import BlockAllocator
from cachecheck.reference.config import Config
from cachecheck.reference.positions import Ints
from cachecheck.reference.weights import Floats, Weights


class BlockPool:
    """Keys and values of all layers in blocks of P positions, with the blocks' reference counts."""

    def __init__(self, config: Config, block_size: int, capacity: int = 4) -> None:
        self.block_size = block_size
        self.allocator = BlockAllocator(capacity)
        heads, width = config.key_value_heads, config.head_width
        shape = (config.layers, capacity, heads, block_size, width)
        self.key = np.zeros(shape, config.numpy_dtype)  # (L, N, G, P, D), N blocks
        self.value = np.zeros(shape, config.numpy_dtype)  # (L, N, G, P, D)
        self.copied_blocks = 0

    def allocate(self) -> int:
        """A free block; its content is whatever its last user left."""
        block = self.allocator.allocate()
        missing = self.allocator.capacity - self.key.shape[1]
        if missing:
            rest = ((0, 0), (0, missing), (0, 0), (0, 0), (0, 0))
            self.key, self.value = np.pad(self.key, rest), np.pad(self.value, rest)
        return block

    def writable_block(self, block: int) -> int:
        """``block`` if no other table refers to it, else a copy in its place."""
        if self.allocator.count(block) == 1:
            return block
        copy = self.allocate()
        self.key[:, copy] = self.key[:, block]
        self.value[:, copy] = self.value[:, block]
        self.allocator.release(block)
        self.copied_blocks += 1
        return copy

    def write(self, table: list[int], key: Floats, value: Floats, start: int) -> None:
        """(L, G, T, D) keys and values at positions from ``start`` on, through a block table."""
        for offset in range(key.shape[2]):
            number, slot = divmod(start + offset, self.block_size)
            self.key[:, table[number], :, slot] = key[:, :, offset]  # (L, G, D)
            self.value[:, table[number], :, slot] = value[:, :, offset]  # (L, G, D)

    def read(self, table: list[int], layer: int, length: int) -> LayerCache:
        """Copies of one layer's keys and values at the first ``length`` positions."""

        def gathered(pool: Floats) -> Floats:
            blocks = pool[layer, table].transpose(1, 0, 2, 3)  # (G, blocks, P, D)
            heads, width = blocks.shape[0], blocks.shape[3]
            return blocks.reshape(heads, -1, width)[:, :length].copy()  # (G, S, D)

        return LayerCache(gathered(self.key), gathered(self.value), np.arange(length))


@dataclass(frozen=True)
class PagedLayer:
    """One layer of a cache, read through its block table."""

    cache: PagedCache
    number: int

    @property
    def length(self) -> int:
        """Tokens in the cache."""
        return self.cache.length

    def read(self) -> LayerCache:
        """Copies of what the blocks hold."""
        return self.cache.pool.read(self.cache.table, self.number, self.length)

    def append(self, key: Floats, value: Floats, positions: Ints) -> LayerCache:
        """The blocks' content and the chunk together; nothing is written yet."""
        return self.read().append(key, value, positions)


@dataclass(eq=False)
class PagedCache:
    """A block table: position p is in slot p mod P of block ``table[p // P]``."""

    pool: BlockPool
    fingerprint: str
    length: int
    last_chunk: int
    table: list[int]
    released: bool = False

    @property
    def layers(self) -> tuple[PagedLayer, ...]:
        """A view of each layer."""
        return tuple(PagedLayer(self, number) for number in range(self.pool.key.shape[0]))

    def blocks_for(self, length: int) -> int:
        """Blocks that ``length`` tokens take."""
        return -(-length // self.pool.block_size)

    def commit(self, appended: Sequence[LayerCache], new: int, config: Config) -> Self:  # noqa: ARG002
        """Write the chunk, the last ``new`` positions of ``appended``, into blocks of our own."""
        if self.length % self.pool.block_size:
            self.table[-1] = self.pool.writable_block(self.table[-1])
        for _ in range(self.blocks_for(self.length + new) - len(self.table)):
            self.table.append(self.pool.allocate())
        key = np.stack([one.key[:, -new:] for one in appended])  # (L, G, T, D)
        value = np.stack([one.value[:, -new:] for one in appended])  # (L, G, T, D)
        self.pool.write(self.table, key, value, self.length)
        self.length, self.last_chunk = self.length + new, new
        return self

    def crop(self, length: int) -> Self:
        """Give back the blocks beyond; one that stays partly filled may still be shared."""
        count = self.blocks_for(length)
        for block in self.table[count:]:
            self.pool.allocator.release(block)
        del self.table[count:]
        self.length, self.last_chunk = length, min(self.last_chunk, length)
        return self

    def clear(self) -> None:
        """Give back every block."""
        self.crop(0)

    def fork(self) -> PagedCache:
        """The same blocks through a table of its own."""
        for block in self.table:
            self.pool.allocator.share(block)
        return type(self)(
            self.pool, self.fingerprint, self.length, self.last_chunk, list(self.table)
        )

    def state(self) -> list[LayerState]:
        """Per layer, what the block table leads to."""
        return [layer.read().state() for layer in self.layers]


class PagedStorage:
    """The storage of `PagedDecoder`: one pool for all caches of a decoder."""

    cache_type = PagedCache
    evicts = False

    def __init__(self, weights: Weights, block_size: int) -> None:
        self.weights = weights
        self.pool = BlockPool(weights.config, block_size)

    def new(self) -> PagedCache:
        """An empty block table."""
        return self.cache_type(self.pool, self.weights.fingerprint, 0, 0, [])

    def restore(self, layers: Sequence[LayerState], length: int, last_chunk: int) -> PagedCache:
        """Fresh blocks with the saved arrays."""
        cache, config = self.new(), self.weights.config
        appended = [LayerCache(one["key"], one["value"], one["positions"]) for one in layers]
        cache.commit(appended, length, config).last_chunk = last_chunk
        return cache
