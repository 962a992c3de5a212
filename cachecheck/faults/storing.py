"""Tokens that are not stored, and block tables that lead to the wrong blocks."""

from __future__ import annotations

import numpy as np

from cachecheck.faults.blocks import paged_factory
from cachecheck.faults.fault import Fault
from cachecheck.reference.cache import LayerCache
from cachecheck.reference.caches.paged import BlockPool, PagedCache
from cachecheck.reference.caches.paged_decoder import paged
from cachecheck.reference.weights import Floats


class WholeEights(BlockPool):
    """Writes chunks of more than eight tokens in groups of eight, and no rest."""

    def write(self, table: list[int], key: Floats, value: Floats, start: int) -> None:
        """Zeros for the rest, so that a failure does not depend on the block's last user."""
        new = key.shape[2]
        if new > 8:
            stored = (np.arange(new) < new - new % 8)[:, None]  # (T, 1)
            key, value = key * stored, value * stored  # (L, G, T, D) each
        super().write(table, key, value, start)


class SlotZeroSkipped(BlockPool):
    """Takes slot 0 for the mark of a pad, and does not write there."""

    def write(self, table: list[int], key: Floats, value: Floats, start: int) -> None:
        """Slot 0 of block 0 stays as it is."""
        stays = self.key[:, 0, :, 0].copy(), self.value[:, 0, :, 0].copy()  # (L, G, D) each
        super().write(table, key, value, start)
        self.key[:, 0, :, 0], self.value[:, 0, :, 0] = stays


class Contiguous(BlockPool):
    """Reads blocks as if they were one behind the other."""

    def read(self, table: list[int], layer: int, length: int) -> LayerCache:
        """From the first one on, as it is while there is one cache alone."""
        first = table[0] if table else 0
        blocks = [(first + at) % self.allocator.capacity for at in range(len(table))]
        return super().read(blocks, layer, length)


class OneBlockMore(PagedCache):
    """Keeps the block in which the next token would stand."""

    def crop(self, length: int) -> OneBlockMore:
        """At a block boundary that is a block without any token."""
        count = length // self.pool.block_size + 1
        for block in self.table[count:]:
            self.pool.allocator.release(block)
        del self.table[count:]
        self.length, self.last_chunk = length, min(self.last_chunk, length)
        return self


class TableHandedOn(PagedCache):
    """Gives a fork the block table itself."""

    def fork(self) -> PagedCache:
        """Blocks that one branch adds are in the other's table as well."""
        other = super().fork()
        other.table = self.table
        return other


STORING = (
    Fault(
        id="paged-long-chunk-loses-rest",
        host="paged",
        kind="token-not-written",
        mechanism="append",
        symptom="Of a chunk of more than eight tokens only whole groups of eight are stored.",
        law="schedule",
        reports=("cool-japan/oxibonsai#10",),
        make=paged_factory(pool=WholeEights),
        right=paged,
        smallest="9+1",
        when="a chunk has more than eight tokens",
    ),
    Fault(
        id="paged-first-slot-skipped",
        host="paged",
        kind="token-not-written",
        mechanism="append",
        symptom="The token that belongs in the very first slot of the pool is never stored.",
        law="schedule",
        reports=("microsoft/onnxruntime-genai#1110",),
        make=paged_factory(pool=SlotZeroSkipped),
        right=paged,
        smallest="1+1",
        when="in slot 0 of block 0",
    ),
    Fault(
        id="paged-read-as-contiguous",
        host="paged",
        kind="page-table-wrong",
        mechanism="block table",
        symptom="A cache whose blocks are not contiguous reads blocks of another cache.",
        law="branch",
        reports=("vllm-project/vllm#5412",),
        make=paged_factory(pool=Contiguous),
        right=paged,
        smallest="5 b=a 1+1",
        when="two caches grow in turn",
    ),
    Fault(
        id="paged-crop-keeps-block",
        host="paged",
        kind="page-table-wrong",
        mechanism="block table",
        symptom="A rollback to a block boundary leaves an empty block in the table.",
        law="crop",
        reports=("tanishqkumar/ssd#23",),
        make=paged_factory(cache=OneBlockMore),
        right=paged,
        smallest="5 crop4",
        when="the length is a multiple of the block size",
    ),
    Fault(
        id="paged-fork-shares-table",
        host="paged",
        kind="page-table-wrong",
        mechanism="block table",
        symptom="A fork and its source have one block table, and both add to it.",
        law="branch",
        reports=("gittensor-ai-lab/sparkinfer#146",),
        make=paged_factory(cache=TableHandedOn),
        right=paged,
        smallest="b=a 1",
    ),
)
