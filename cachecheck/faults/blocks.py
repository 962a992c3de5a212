"""Block tables that share more, or give back less, than their reference counts say."""

from __future__ import annotations

from cachecheck.faults.fault import Fault, Make
from cachecheck.reference.caches.allocator import BlockAllocator
from cachecheck.reference.caches.paged import BlockPool, PagedCache
from cachecheck.reference.caches.paged_decoder import PagedDecoder, paged
from cachecheck.reference.config import Precision


class Uncounted(BlockAllocator):
    """Does not count the references that a fork adds."""

    def share(self, block: int) -> None:
        """Nothing."""

    def release(self, block: int) -> None:
        """As the right one; the second owner's release finds the block free, and is ignored."""
        if self.count(block):
            super().release(block)


class FreedWhileShared(PagedCache):
    """Frees blocks without asking who else refers to them."""

    def crop(self, length: int) -> FreedWhileShared:
        """Every block beyond is free, also in a reset or a release."""
        count, allocator = self.blocks_for(length), self.pool.allocator
        for block in self.table[count:]:
            while allocator.count(block):
                allocator.release(block)
        del self.table[count:]
        return super().crop(length)


class NeverCopied(BlockPool):
    """Lets a branch write into a block that it shares."""

    def writable_block(self, block: int) -> int:
        """The block itself."""
        return block


class Leaking(PagedDecoder):
    """Gives back full blocks alone; its pool is made anew when no cache is left.

    Without the latter a leak would outlive the case that it belongs to.
    """

    live = 0

    def new_cache(self) -> PagedCache:
        """As the right one, and counted."""
        self.live += 1
        return super().new_cache()

    def fork(self, cache: PagedCache) -> PagedCache:
        """As the right one, and counted."""
        self.live += 1
        return super().fork(cache)

    def load(self, data: bytes) -> PagedCache:
        """As the right one, and counted."""
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


class CopiesKeys(BlockPool):
    """Copies half of a block that is shared."""

    def writable_block(self, block: int) -> int:
        """A copy with the keys; zeros in its values, whatever the block's last user left."""
        if self.allocator.count(block) == 1:
            return block
        copy = self.allocate()
        self.key[:, copy] = self.key[:, block]
        self.value[:, copy] = 0
        self.allocator.release(block)
        return copy


def paged_factory(
    decoder: type[PagedDecoder] = PagedDecoder,
    pool: type[BlockPool] = BlockPool,
    cache: type[PagedCache] = PagedCache,
) -> Make:
    """A factory of paged decoders with one part replaced."""

    def make(seed: int, dtype: Precision = "float64") -> PagedDecoder:
        right = paged(seed, dtype)
        size = right.storage.pool.block_size
        made = decoder(right.config, size, seed=seed)
        made.storage.pool, made.storage.cache_type = pool(right.config, size), cache
        return made

    return make


def _uncounted(seed: int, dtype: Precision = "float64") -> PagedDecoder:
    decoder = paged(seed, dtype)
    pool = decoder.storage.pool
    pool.allocator = Uncounted(pool.allocator.capacity)
    return decoder


BLOCKS = (
    Fault(
        id="paged-fork-uncounted",
        host="paged",
        kind="fork-copy-missing",
        mechanism="block table",
        symptom="A fork copies the block table without counting its references to the blocks.",
        law="programs",
        reports=("xLLM-AI/xllm#1984",),
        make=_uncounted,
        right=paged,
        smallest="1 b=a",
    ),
    Fault(
        id="paged-no-copy-on-write",
        host="paged",
        kind="fork-copy-missing",
        mechanism="block table",
        symptom="A branch writes into a partly filled block that its fork reads as well.",
        law="branch",
        reports=(
            "xLLM-AI/xllm#1984",
            "mlc-ai/mlc-llm#2644",
        ),
        make=paged_factory(pool=NeverCopied),
        right=paged,
        smallest="1 b=a 1 b:1 1",
    ),
    Fault(
        id="paged-freed-while-shared",
        host="paged",
        kind="stale-block-reuse",
        mechanism="block table",
        symptom="The first branch that gives a block back frees it for all, and it is used again.",
        law="programs",
        reports=("vllm-project/vllm#56525",),
        make=paged_factory(cache=FreedWhileShared),
        right=paged,
        smallest="1 b=a save",
    ),
    Fault(
        id="paged-release-leaks",
        host="paged",
        kind="page-table-wrong",
        mechanism="release",
        symptom="A released cache never gives back its partly filled last block.",
        law="programs",
        reports=("gittensor-ai-lab/sparkinfer#146",),
        make=paged_factory(Leaking),
        right=paged,
        smallest="1 save",
    ),
    Fault(
        id="paged-copy-without-values",
        host="paged",
        kind="fork-copy-missing",
        mechanism="block table",
        symptom="A block that is copied on write gets the keys of the shared one but not its "
        "values.",
        law="branch",
        reports=("mlc-ai/mlc-llm#2644",),
        make=paged_factory(pool=CopiesKeys),
        right=paged,
        smallest="1 b=a 1+1",
    ),
)
