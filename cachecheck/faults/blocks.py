"""Block tables that share more, or give back less, than their reference counts say."""

from __future__ import annotations

from cachecheck.faults.fault import Fault
from cachecheck.reference.caches.allocator import BlockAllocator
from cachecheck.reference.caches.paged import BlockPool, PagedCache
from cachecheck.reference.caches.paged_decoder import PagedDecoder, paged


class Uncounted(BlockAllocator):
    """Does not count the references that a fork adds."""

    def share(self, block: int) -> None:
        """Nothing."""

    def release(self, block: int) -> None:
        """As ever; the second owner's release finds the block free, and says nothing."""
        if self.count(block):
            super().release(block)


class FreedWhileShared(PagedCache):
    """Frees blocks without asking who else refers to them."""

    def crop(self, length: int) -> FreedWhileShared:
        """Every block beyond is free, also in a reset or a release."""
        kept, allocator = self.blocks_for(length), self.pool.allocator
        for block in self.table[kept:]:
            while allocator.count(block):
                allocator.release(block)
        del self.table[kept:]
        return super().crop(length)


class NeverCopied(BlockPool):
    """Lets a branch write into a block that it shares."""

    def own(self, block: int) -> int:
        """The block itself."""
        return block


class Leaking(PagedDecoder):
    """Gives back full blocks alone; its pool is made anew when no cache is left.

    Without the latter a leak would outlive the case that it belongs to.
    """

    live = 0

    def new_cache(self) -> PagedCache:
        """As ever, and counted."""
        self.live += 1
        return super().new_cache()

    def fork(self, cache: PagedCache) -> PagedCache:
        """As ever, and counted."""
        self.live += 1
        return super().fork(cache)

    def load(self, data: bytes) -> PagedCache:
        """As ever, and counted."""
        self.live += 1
        return super().load(data)

    def release(self, cache: PagedCache) -> None:
        """The last block, partly filled, is forgotten."""
        if cache.length % cache.pool.block_size:
            cache.table.pop()
        super().release(cache)
        self.live -= 1
        if self.live == 0:
            pool = self.storage.pool
            pool.allocator = BlockAllocator(pool.allocator.capacity)


def _uncounted(seed: int) -> PagedDecoder:
    decoder = paged(seed)
    pool = decoder.storage.pool
    pool.allocator = Uncounted(pool.allocator.capacity)
    return decoder


def _freed_while_shared(seed: int) -> PagedDecoder:
    decoder = paged(seed)
    decoder.storage.cache_type = FreedWhileShared
    return decoder


def _never_copied(seed: int) -> PagedDecoder:
    decoder = paged(seed)
    decoder.storage.pool = NeverCopied(decoder.config, decoder.storage.pool.block_size)
    return decoder


def _leaking(seed: int) -> PagedDecoder:
    right = paged(seed)
    return Leaking(right.config, right.storage.pool.block_size, seed=seed)


BLOCKS = (
    Fault(
        id="paged-fork-uncounted",
        kind="paged",
        mechanism="block table",
        symptom="A fork copies the block table without counting its references to the blocks.",
        law="programs",
        make=_uncounted,
        tokens=1,
        steps=2,
    ),
    Fault(
        id="paged-no-copy-on-write",
        kind="paged",
        mechanism="block table",
        symptom="A branch writes into a partly filled block that its fork reads as well.",
        law="branch",
        make=_never_copied,
        tokens=4,
        steps=5,
    ),
    Fault(
        id="paged-freed-while-shared",
        kind="paged",
        mechanism="block table",
        symptom="The first branch to give a block back frees it for all, and it is handed out "
        "again.",
        law="programs",
        make=_freed_while_shared,
        tokens=1,
        steps=3,
    ),
    Fault(
        id="paged-release-leaks",
        kind="paged",
        mechanism="release",
        symptom="A released cache never gives back its partly filled last block.",
        law="programs",
        make=_leaking,
        tokens=1,
        steps=2,
    ),
)
