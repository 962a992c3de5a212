"""Batches that are put together or taken apart, with the wrong lengths or arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cachecheck.faults.batches import batched_factory
from cachecheck.faults.fault import Fault
from cachecheck.reference.caches.batch_cache import PAD, BatchCache
from cachecheck.reference.caches.batched import BatchedDecoder, batched


class SharedCursor(BatchedDecoder):
    """Has one cursor for all rows of a merged batch."""

    def merge(self, caches: Sequence[BatchCache]) -> BatchCache:
        """Every row goes on where the longest does."""
        merged = super().merge(caches)
        return replace(merged, lengths=np.full_like(merged.lengths, merged.lengths.max()))


class LengthOfFirst(BatchedDecoder):
    """Takes the first batch's length for those that are merged into it."""

    def merge(self, caches: Sequence[BatchCache]) -> BatchCache:
        """The rows that come in go on where the first batch's longest does."""
        merged, own = super().merge(caches), caches[0].lengths
        came = np.full(len(merged.lengths) - len(own), own.max())
        return replace(merged, lengths=np.concatenate([own, came]))


class KeysAsValues(BatchedDecoder):
    """Fills the values of a merged batch from the keys."""

    def merge(self, caches: Sequence[BatchCache]) -> BatchCache:
        """Keys twice."""
        merged = super().merge(caches)
        return replace(merged, values=merged.keys)


class PadsStay(BatchedDecoder):
    """Takes a row out of a batch with all columns, pads included."""

    def reorder(self, cache: BatchCache, rows: Any) -> BatchCache:
        """A single row has as many tokens more as it had pads; several rows are right."""
        after = super().reorder(cache, rows)
        pads = (after.positions == PAD).sum(axis=1)  # (new B,)
        if len(rows) > 1 or not pads.any():
            return after
        lengths = after.lengths + pads  # (1,)
        columns = after.positions.shape[1]
        positions = lengths[:, None] - columns + np.arange(columns)  # (1, R)
        return replace(after, lengths=lengths, positions=positions)


MERGES = (
    Fault(
        id="batched-merge-shares-cursor",
        host="batched",
        kind="leftpad-shared-positions",
        mechanism="merge",
        symptom="All rows of a merged batch continue at the length of the longest one.",
        law="reorder",
        reports=("scouzi1966/maclocal-api#92",),
        make=batched_factory(SharedCursor),
        right=batched,
        smallest="b=new*1 b:1 c=new*1 d=b&c d:1/1",
    ),
    Fault(
        id="batched-merge-takes-first-length",
        host="batched",
        kind="ragged-batch-bookkeeping",
        mechanism="merge",
        symptom="The rows of the second batch continue at the length of the first one.",
        law="reorder",
        reports=("ml-explore/mlx-lm#1141",),
        make=batched_factory(LengthOfFirst),
        right=batched,
        smallest="b=new*1 b:1 c=new*1 d=b&c d:1/1",
    ),
    Fault(
        id="batched-merge-values-from-keys",
        host="batched",
        kind="value-taken-from-key",
        mechanism="merge",
        symptom="A merged batch has its keys in place of its values.",
        law="reorder",
        reports=("huggingface/transformers#34232",),
        make=batched_factory(KeysAsValues),
        right=batched,
        smallest="b=new*1 b:1 c=new*1 d=b&c d:1/1",
    ),
    Fault(
        id="batched-split-keeps-pads",
        host="batched",
        kind="ragged-batch-bookkeeping",
        mechanism="split",
        symptom="A row that is taken out of a batch counts the pads before it as tokens.",
        law="reorder",
        reports=("ml-explore/mlx-lm#1746", "Blaizzy/mlx-vlm#1883"),
        make=batched_factory(PadsStay),
        right=batched,
        smallest="b=new*2 b:1/2 c=b[0] c:1",
        when="a single row is taken out",
    ),
)
