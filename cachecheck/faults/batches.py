"""Batches whose rows get mixed up, with each other or with pads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cachecheck.faults.fault import Fault, Make
from cachecheck.reference.caches.batch_attention import left_pad, padded_positions
from cachecheck.reference.caches.batch_cache import BatchCache, evict_columns
from cachecheck.reference.caches.batch_pass import Columns, batch_pass
from cachecheck.reference.caches.batched import BatchedDecoder, batched
from cachecheck.reference.config import Config, Precision
from cachecheck.reference.masks import Bools
from cachecheck.reference.positions import Ints
from cachecheck.reference.weights import Floats


class SwapsMerged(BatchedDecoder):
    """Puts the rows of the second batch before those of the first."""

    def merge(self, caches: Sequence[BatchCache]) -> BatchCache:
        """The batches in the wrong order."""
        return super().merge(caches[::-1])


class LastForPads(BatchedDecoder):
    """Pads with the last token of the vocabulary.

    A pad that is the row's first token once more, at the same position, changes nothing: the first
    of a vocabulary would hide what the last shows.
    """

    def __init__(self, config: Config, *, seed: int = 0) -> None:
        super().__init__(config, seed=seed)
        self.pad_token = config.vocab_size - 1


class SeesPads(LastForPads):
    """Lets rows attend to the pads before them."""

    def _cached_mask(self, query: Ints, key: Ints) -> Bools:
        """Pads are taken for what they look like: tokens at position 0."""
        return super()._cached_mask(query, np.maximum(key, 0))


class SeesPadsLater(LastForPads):
    """Masks pads in the call that brings them, and does not remember them."""

    def _cached_mask(self, query: Ints, key: Ints) -> Bools:
        """Pads among the past columns are taken for tokens at position 0."""
        past = key.shape[1] - query.shape[1]
        past_positions, own = np.maximum(key[:, :past], 0), key[:, past:]  # (B, R), (B, T)
        return super()._cached_mask(query, np.concatenate([past_positions, own], axis=1))


class Misnumbered(BatchedDecoder):
    """Right but for the positions by which inputs are embedded, and queries and keys rotated."""

    def extend_batch(
        self, tokens: Sequence[Any], cache: BatchCache
    ) -> tuple[list[Floats], BatchCache]:
        """As the right one; masks and stored positions are right."""
        ids, pads = left_pad(self._check_rows(tokens, cache.lengths), self.pad_token)
        positions = padded_positions(pads, ids.shape[1], cache.lengths)  # (B, T)
        key_positions = np.concatenate([cache.positions, positions], axis=1)  # (B, R+T)
        mask = self._cached_mask(positions, key_positions)  # (B, T, R+T)
        columns = Columns(self._numbers(positions, pads), key_positions, mask)
        rows, keys, values = batch_pass(self.weights, ids, columns, cache, self._work)
        lengths = cache.lengths + ids.shape[1] - pads  # (B,)
        after = BatchCache(keys, values, key_positions, lengths, cache.fingerprint)
        chunks = [row[pad:] for row, pad in zip(rows, pads, strict=True)]
        return chunks, evict_columns(after, self.config)

    def _numbers(self, positions: Ints, pads: Ints) -> Ints:
        """The positions that inputs are embedded by: (B, T), (B,) -> (B, T)."""
        raise NotImplementedError


class CountsPads(Misnumbered):
    """Numbers the columns of a padded chunk from each row's length on, pads included."""

    def _numbers(self, positions: Ints, pads: Ints) -> Ints:
        """Too high by the row's pads."""
        return positions + pads[:, None]


class AdvancesByWidth(BatchedDecoder):
    """Counts the columns of a padded chunk for every row's tokens."""

    def extend_batch(
        self, tokens: Sequence[Any], cache: BatchCache
    ) -> tuple[list[Floats], BatchCache]:
        """The rows are right; the next call goes on too far."""
        rows, after = super().extend_batch(tokens, cache)
        return rows, replace(after, lengths=cache.lengths + max(map(len, tokens)))


def batched_factory(decoder: type[BatchedDecoder], right: Make = batched) -> Make:
    """A factory of ``decoder`` with the configurations that ``right`` draws."""

    def make(seed: int, dtype: Precision = "float64") -> BatchedDecoder:
        return decoder(right(seed, dtype).config, seed=seed)

    return make


BATCHES = (
    Fault(
        id="batched-merge-swaps-rows",
        host="batched",
        kind="ragged-batch-bookkeeping",
        mechanism="merge",
        symptom="Two batches are merged in the wrong order, so that rows get others' histories.",
        law="reorder",
        reports=("ml-explore/mlx-lm#983",),
        make=batched_factory(SwapsMerged),
        right=batched,
        smallest="b=new*1 b:1 c=new*1 d=b&c d:1/1",
    ),
    Fault(
        id="batched-pads-unmasked",
        host="batched",
        kind="leftpad-mask-dropped",
        mechanism="mask",
        symptom="The rows of a shorter sequence attend to the pads in front of it.",
        law="batch",
        reports=(
            "huggingface/transformers#4130",
            "OpenNMT/OpenNMT-py#2589",
        ),
        make=batched_factory(SeesPads),
        right=batched,
        smallest="b=new*2 b:1/2",
    ),
    Fault(
        id="batched-pads-seen-later",
        host="batched",
        kind="leftpad-mask-dropped",
        mechanism="mask",
        symptom="Pads are masked in the call that brings them, and attended to by the calls after.",
        law="batch",
        reports=("huggingface/transformers#30670",),
        make=batched_factory(SeesPadsLater),
        right=batched,
        smallest="b=new*2 b:1/2+1/1",
    ),
    Fault(
        id="batched-positions-count-pads",
        host="batched",
        kind="leftpad-shared-positions",
        mechanism="input positions",
        symptom="The tokens of a padded row are numbered by their column, pads included.",
        law="batch",
        reports=("huggingface/transformers#3095", "huggingface/transformers#21080"),
        make=batched_factory(CountsPads),
        right=batched,
        smallest="b=new*2 b:1/2",
    ),
    Fault(
        id="batched-lengths-count-pads",
        host="batched",
        kind="ragged-batch-bookkeeping",
        mechanism="lengths",
        symptom="After a ragged call every row is counted as if it had got the longest chunk.",
        law="batch",
        reports=("lablup/mlxcel#75",),
        make=batched_factory(AdvancesByWidth),
        right=batched,
        smallest="b=new*2 b:1/2+1/1",
    ),
)
