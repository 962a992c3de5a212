"""Batches whose rows get each other's keys, values or positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cachecheck.faults.batches import Misnumbered, batched_factory
from cachecheck.faults.fault import Fault
from cachecheck.reference.caches.batch_cache import BatchCache
from cachecheck.reference.caches.batched import BatchedDecoder, batched
from cachecheck.reference.config import Precision
from cachecheck.reference.positions import Ints
from cachecheck.reference.weights import Floats


class KeysOfFirstRow(BatchedDecoder):
    """Stores the first row's new keys for all rows, as an assignment that broadcasts does."""

    def extend_batch(
        self, tokens: Sequence[Any], cache: BatchCache
    ) -> tuple[list[Floats], BatchCache]:
        """The rows are right, and the values; later rows meet the wrong keys."""
        rows, after = super().extend_batch(tokens, cache)
        new = max(map(len, tokens))
        keys = [key.copy() for key in after.keys]  # (B, G, R, D) each
        for key in keys:
            key[:, :, -new:] = key[:1, :, -new:]
        return rows, replace(after, keys=tuple(keys))


class OneRowUp(BatchedDecoder):
    """Has a path for single tokens that counts rows from 1 in the last layer."""

    def extend_batch(
        self, tokens: Sequence[Any], cache: BatchCache
    ) -> tuple[list[Floats], BatchCache]:
        """There each row's new value is stored one row up, the first row's in the last."""
        rows, after = super().extend_batch(tokens, cache)
        if max(map(len, tokens)) > 1:
            return rows, after
        value = after.values[-1].copy()  # (B, G, R, D)
        value[:, :, -1] = np.roll(value[:, :, -1], -1, axis=0)
        return rows, replace(after, values=(*after.values[:-1], value))


class RotatesFirstRow(Misnumbered):
    """Has a path for single tokens that rotates the first row's queries and keys alone."""

    def _numbers(self, positions: Ints, pads: Ints) -> Ints:  # noqa: ARG002
        """At position 0 nothing is rotated."""
        if positions.shape[1] > 1:
            return positions
        return np.concatenate([positions[:1], np.zeros_like(positions[1:])])  # (B, 1)


def rotary_batched(seed: int, dtype: Precision = "float64") -> BatchedDecoder:
    """The right kind with rotary positions."""
    return BatchedDecoder(replace(batched(seed, dtype).config, positions="rotary"), seed=seed)


class ValuesStay(BatchedDecoder):
    """Moves the keys of a beam and not its values."""

    def reorder(self, cache: BatchCache, rows: Any) -> BatchCache:
        """The first rows' values stay, repeated where there are too few."""
        stay = np.arange(len(rows)) % len(cache.lengths)
        values = tuple(value[stay] for value in cache.values)  # (new B, G, R, D)
        return replace(super().reorder(cache, rows), values=values)


class LengthsStay(BatchedDecoder):
    """Moves keys, values and their positions, and not the rows' lengths."""

    def reorder(self, cache: BatchCache, rows: Any) -> BatchCache:
        """Rows go on where others had got to."""
        stay = np.arange(len(rows)) % len(cache.lengths)
        return replace(super().reorder(cache, rows), lengths=cache.lengths[stay])


class LastRowStays(BatchedDecoder):
    """Reorders in a loop that ends one row early."""

    def reorder(self, cache: BatchCache, rows: Any) -> BatchCache:
        """The last row keeps its own history, where as many rows are wanted as there are."""
        chosen, count = list(rows), len(cache.lengths)
        if len(chosen) == count:
            chosen[-1] = count - 1
        return super().reorder(cache, chosen)


ROWS = (
    Fault(
        id="batched-keys-of-first-row",
        host="batched",
        kind="batch-row-crosstalk",
        mechanism="append",
        symptom="Every row of a batch stores the keys of the first.",
        law="batch",
        reports=("Dao-AILab/flash-attention#772",),
        make=batched_factory(KeysOfFirstRow),
        right=batched,
        smallest="b=new*2 b:1/1+1/1",
    ),
    Fault(
        id="batched-values-one-row-up",
        host="batched",
        kind="batch-row-crosstalk",
        mechanism="append",
        symptom="In calls of one token the last layer stores each row's value with the row above.",
        law="batch",
        reports=("tenstorrent/tt-xla#5940",),
        make=batched_factory(OneRowUp),
        right=batched,
        smallest="b=new*2 b:1/1+1/1",
        when="in the last layer, in calls of one token a row",
    ),
    Fault(
        id="batched-rotates-first-row",
        host="batched",
        kind="batch-row-crosstalk",
        mechanism="rotation",
        symptom="In calls of one token the first row alone is rotated.",
        law="batch",
        reports=("ml-explore/mlx#3795",),
        make=batched_factory(RotatesFirstRow, rotary_batched),
        right=rotary_batched,
        smallest="b=new*2 b:1/1+1/1",
        when="in rows after the first, in calls of one token a row",
    ),
    Fault(
        id="batched-reorder-keeps-values",
        host="batched",
        kind="beam-reorder-missing",
        mechanism="reorder",
        symptom="A beam search moves the keys of its rows and leaves their values behind.",
        law="reorder",
        reports=("allenai/OLMo#526",),
        make=batched_factory(ValuesStay),
        right=batched,
        smallest="b=new*2 b:1/1 c=b[1] c:1",
    ),
    Fault(
        id="batched-reorder-keeps-lengths",
        host="batched",
        kind="beam-reorder-missing",
        mechanism="reorder",
        symptom="A beam search moves the histories of its rows and not their lengths.",
        law="reorder",
        reports=("bigscience-workshop/petals#571",),
        make=batched_factory(LengthsStay),
        right=batched,
        smallest="b=new*2 b:1/2 c=b[1] c:1",
    ),
    Fault(
        id="batched-reorder-skips-last-row",
        host="batched",
        kind="beam-reorder-missing",
        mechanism="reorder",
        symptom="The last row of a beam search keeps its own history instead of the chosen one.",
        law="reorder",
        reports=("mobilint/mblt-model-zoo#78",),
        make=batched_factory(LastRowStays),
        right=batched,
        smallest="b=new*2 b:1/1 c=b[0,0] c:1/1",
        when="in the last row alone",
    ),
)
