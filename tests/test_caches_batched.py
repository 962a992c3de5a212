"""The batched decoder: every row of a ragged batch is what it would be alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cachecheck import strategies as cs
from cachecheck.errors import InputError
from cachecheck.reference import Config
from cachecheck.reference.caches.batch_attention import cached_mask, full_mask, padded_positions
from cachecheck.reference.caches.batch_cache import PAD, BatchCache
from cachecheck.reference.caches.batched import BatchedDecoder, batched
from tests.helpers import TOLERANCE, Array, largest

data = st.data()
decoders = st.builds(BatchedDecoder, cs.configs(), seed=cs.seeds())
SMALL = Config(vocab_size=8, width=8, head_width=8)

Chunks = list[list[int]]  # one chunk of tokens a row


def draw_calls(
    draw: st.DataObject, decoder: BatchedDecoder, rows: int, *, most: int = 5
) -> list[Chunks]:
    """1 to ``most`` calls, each with a chunk of 1 to 5 tokens for every row."""
    call = st.lists(st.integers(1, 5), min_size=rows, max_size=rows)
    sizes = draw.draw(st.lists(call, min_size=1, max_size=most))
    rng = np.random.default_rng(draw.draw(cs.seeds()))  # one draw instead of one a token: quicker
    return [[rng.integers(0, decoder.vocab_size, n).tolist() for n in call] for call in sizes]


def draw_chunks(draw: st.DataObject, decoder: BatchedDecoder, rows: int) -> Chunks:
    """The chunks of one call."""
    return draw_calls(draw, decoder, rows, most=1)[0]


def bytes_of(cache: BatchCache) -> list[bytes]:
    arrays = (*cache.keys, *cache.values, cache.positions, cache.lengths)
    return [array.tobytes() for array in arrays]


def check_rows(rows: Array, expected: Array) -> None:
    assert np.all(np.isfinite(rows))
    assert largest(rows, expected) < TOLERANCE * max(1.0, float(np.abs(expected).max()))


def together(calls: list[Chunks]) -> Chunks:
    """Each row's whole sequence."""
    return [[token for chunk in row for token in chunk] for row in zip(*calls, strict=True)]


def fill(decoder: BatchedDecoder, calls: list[Chunks]) -> BatchCache:
    cache = decoder.new_batch_cache(len(calls[0]))
    for chunks in calls:
        _, cache = decoder.extend_batch(chunks, cache)
    return cache


def check_continuation(
    decoder: BatchedDecoder, cache: BatchCache, past: Chunks, chunks: Chunks
) -> BatchCache:
    """After ``past``, held by ``cache``, every row of ``chunks`` is what it is alone."""
    rows, after = decoder.extend_batch(chunks, cache)
    for row, before, chunk in zip(rows, past, chunks, strict=True):
        check_rows(row, decoder.full([*before, *chunk])[len(before) :])
    return after


def check_calls(decoder: BatchedDecoder, calls: list[Chunks]) -> None:
    cache = decoder.new_batch_cache(len(calls[0]))
    past: Chunks = [[] for _ in calls[0]]
    for chunks in calls:
        cache = check_continuation(decoder, cache, past, chunks)
        past = [[*before, *chunk] for before, chunk in zip(past, chunks, strict=True)]


@settings(max_examples=30)
@given(decoders, data)
def test_ragged_batches_in_any_cuts_give_each_row_its_own_full_pass(
    decoder: BatchedDecoder, data: st.DataObject
) -> None:
    check_calls(decoder, draw_calls(data, decoder, data.draw(st.integers(1, 4))))


@settings(max_examples=25)
@given(decoders, data)
def test_a_padded_full_pass_gives_each_row_its_own(
    decoder: BatchedDecoder, data: st.DataObject
) -> None:
    sequences = together(draw_calls(data, decoder, data.draw(st.integers(1, 4))))
    rows = decoder.full_batch(sequences)
    assert len(rows) == len(sequences)
    for row, tokens in zip(rows, sequences, strict=True):
        check_rows(row, decoder.full(tokens))


@settings(max_examples=25)
@given(decoders, data)
def test_single_sequences_in_any_chunks_give_the_rows_of_the_full_pass(
    decoder: BatchedDecoder, data: st.DataObject
) -> None:
    tokens = data.draw(cs.token_ids(decoder.vocab_size, max_size=20))
    cache, rows, past = decoder.new_cache(), [], 0
    for chunk in data.draw(cs.chunk_partitions(len(tokens))):
        new, cache = decoder.extend(tokens[past : past + chunk], cache)
        rows.append(new)
        past += chunk
    check_rows(np.concatenate(rows), decoder.full(tokens))
    assert decoder.work() == 3 * decoder.config.layers * len(tokens)


@pytest.mark.parametrize("seed", range(8))
def test_every_seed_is_a_decoder_of_its_own(seed: int) -> None:
    decoder, size = batched(seed), batched(seed).vocab_size
    check_calls(decoder, [[[seed % size], [1, 0, 1]], [[1, 1, 0, 1], [0]], [[0], [1]]])
    assert repr(decoder) == repr(batched(seed))
    assert decoder.weights.fingerprint != batched(seed + 1).weights.fingerprint


class AttendsToPads(BatchedDecoder):
    """Takes the pads of earlier calls for tokens at position 0."""

    def extend_batch(self, tokens: Any, cache: BatchCache) -> tuple[list[Array], BatchCache]:
        taken = replace(cache, positions=np.maximum(cache.positions, 0))
        return super().extend_batch(tokens, taken)


class CountsPads(BatchedDecoder):
    """Numbers new tokens by columns, pads among them."""

    def extend_batch(self, tokens: Any, cache: BatchCache) -> tuple[list[Array], BatchCache]:
        rows, after = super().extend_batch(tokens, cache)
        return rows, replace(after, lengths=np.full_like(after.lengths, after.lengths.max()))


class LeavesValuesBehind(BatchedDecoder):
    """Reorders keys and forgets the values."""

    def reorder(self, cache: BatchCache, rows: Any) -> BatchCache:
        moved = super().reorder(cache, rows)
        stale = tuple(value[: len(rows)].copy() for value in cache.values)
        return replace(moved, values=stale)


class MergesBackwards(BatchedDecoder):
    """Appends the first cache behind the last."""

    def merge(self, caches: Any) -> BatchCache:
        return super().merge(caches[::-1])


@pytest.mark.parametrize("broken", [AttendsToPads, CountsPads])
def test_a_decoder_that_takes_pads_for_tokens_is_found_out(broken: type[BatchedDecoder]) -> None:
    decoder = broken(SMALL)
    check_calls(decoder, [[[1, 2, 3], [4, 5, 6]], [[7], [1]]])  # no pads, no mistake
    with pytest.raises(AssertionError):
        check_calls(decoder, [[[1, 2, 3], [4]], [[7], [1]]])


def check_reorder(
    decoder: BatchedDecoder, calls: list[Chunks], rows: list[int], chunks: Chunks
) -> None:
    past, cache = together(calls), fill(decoder, calls)
    moved = decoder.reorder(cache, rows)
    check_continuation(decoder, moved, [past[row] for row in rows], chunks)


@settings(max_examples=25)
@given(decoders, data)
def test_rows_may_be_repeated_left_out_and_put_in_any_order(
    decoder: BatchedDecoder, data: st.DataObject
) -> None:
    count = data.draw(st.integers(1, 4))
    rows = data.draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=5))
    calls = draw_calls(data, decoder, count)
    check_reorder(decoder, calls, rows, draw_chunks(data, decoder, len(rows)))


def check_merge(decoder: BatchedDecoder, batches: list[list[Chunks]], chunks: Chunks) -> None:
    merged = decoder.merge([fill(decoder, calls) for calls in batches])
    past = [row for calls in batches for row in together(calls)]
    check_continuation(decoder, merged, past, chunks)


@settings(max_examples=25)
@given(decoders, data)
def test_merged_batches_go_on_as_each_row_would_alone(
    decoder: BatchedDecoder, data: st.DataObject
) -> None:
    counts = data.draw(st.lists(st.integers(1, 2), min_size=1, max_size=3))
    batches = [draw_calls(data, decoder, count) for count in counts]
    check_merge(decoder, batches, draw_chunks(data, decoder, sum(counts)))


def test_a_decoder_that_mixes_rows_up_is_found_out() -> None:
    calls: list[Chunks] = [[[1, 2, 3], [4]], [[7], [1]]]
    check_reorder(LeavesValuesBehind(SMALL), calls, [0, 1], [[1], [1]])
    with pytest.raises(AssertionError):
        check_reorder(LeavesValuesBehind(SMALL), calls, [1, 0], [[1], [1]])
    with pytest.raises(AssertionError):
        check_merge(MergesBackwards(SMALL), [calls, [[[5]]]], [[1], [1], [1]])


@settings(max_examples=25)
@given(decoders, data)
def test_what_a_companion_holds_and_how_long_it_is_does_not_change_a_row(
    decoder: BatchedDecoder, data: st.DataObject
) -> None:
    calls = draw_calls(data, decoder, 3)
    caches = [decoder.new_batch_cache(2), decoder.new_batch_cache(2)]
    for own, *companions in calls:
        rows = []
        for number, companion in enumerate(companions):
            both, caches[number] = decoder.extend_batch([own, companion], caches[number])
            rows.append(both[0])
        check_rows(rows[0], rows[1])


@settings(max_examples=25)
@given(decoders, data)
def test_old_batch_caches_stay_byte_identical_whatever_is_made_of_them(
    decoder: BatchedDecoder, data: st.DataObject
) -> None:
    count = data.draw(st.integers(1, 3))
    calls = draw_calls(data, decoder, count)
    past, trunk = together(calls), fill(decoder, calls)
    before = bytes_of(trunk)
    left = check_continuation(decoder, trunk, past, draw_chunks(data, decoder, count))
    after_left = bytes_of(left)
    decoder.reorder(trunk, [0] * (count + 1))
    decoder.merge([trunk, left, trunk])
    check_continuation(decoder, trunk, past, draw_chunks(data, decoder, count))
    assert bytes_of(trunk) == before
    assert bytes_of(left) == after_left


@given(cs.configs(), st.lists(st.integers(1, 9), min_size=1, max_size=3))
def test_two_ways_to_the_mask_agree_and_no_row_is_blind(config: Config, lengths: list[int]) -> None:
    columns = max(lengths)
    pads = columns - np.array(lengths)
    places = padded_positions(pads, columns, np.zeros_like(pads))
    mask = full_mask(pads, columns, config)
    assert np.array_equal(mask, cached_mask(places, places, config))
    assert mask.any(axis=-1).all()
    pad_query = places == PAD
    assert np.array_equal(mask[pad_query].sum(axis=-1), np.ones(pad_query.sum()))
    assert not (mask & ~pad_query[:, :, None] & pad_query[:, None, :]).any()


def test_columns_that_no_row_needs_are_given_up() -> None:
    decoder = BatchedDecoder(replace(SMALL, window=2))
    calls: list[Chunks] = [[[1, 2, 3], [4]], [[7], [1, 2, 3]], [[1], [2]], [[1, 2], [2]]]
    cache = fill(decoder, calls)
    # Row 0 has no use for its position 4, but row 1 has for what stands beside it.
    assert cache.positions.tolist() == [[4, 5, 6], [4, PAD, 5]]
    assert cache.lengths.tolist() == [7, 6]


def test_a_batch_has_a_state_by_layer_which_refuses_to_be_written() -> None:
    decoder = batched(0)
    cache = fill(decoder, [[[1, 2], [3]]])
    layers = decoder.state(cache)
    assert [sorted(layer) for layer in layers] == [["key", "positions", "value"]] * 2
    for layer in layers:
        for array in layer.values():
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0


def test_bad_input_is_refused_in_one_line() -> None:
    decoder, other = batched(0), batched(1)
    cache = fill(decoder, [[[1], [2]]])
    for refused in (
        lambda: other.extend_batch([[1], [1]], cache),
        lambda: other.reorder(cache, [0]),
        lambda: other.merge([cache]),
    ):
        with pytest.raises(InputError, match="filled by another decoder"):
            refused()
    with pytest.raises(InputError, match="expected a BatchCache; got Cache"):
        decoder.extend_batch([[1]], decoder.new_cache())  # type: ignore[arg-type]
    for rows in ([], [[1]], [[1], [1], [1]]):
        with pytest.raises(InputError, match="expected tokens for 2 rows; got"):
            decoder.extend_batch(rows, cache)
    with pytest.raises(InputError, match="row 1: tokens must not be empty"):
        decoder.extend_batch([[1], np.zeros(0, np.int64)], cache)
    with pytest.raises(InputError, match="row 0: token 99 at index 1 is outside the vocabulary"):
        decoder.full_batch([[1, 99]])
    with pytest.raises(InputError, match="expected tokens for 1 rows; got 0"):
        decoder.full_batch([])
    with pytest.raises(InputError, match="row 2 is outside the batch of 2"):
        decoder.reorder(cache, [0, 2])
    with pytest.raises(InputError, match="rows must not be empty"):
        decoder.reorder(cache, [])
    with pytest.raises(InputError, match="at least one cache"):
        decoder.merge([])
    with pytest.raises(InputError, match="a batch has at least one row; got 0"):
        decoder.new_batch_cache(0)
    short = BatchedDecoder(replace(SMALL, positions="learned", max_length=2))
    with pytest.raises(InputError, match="row 1: 3 tokens exceed max_length 2"):
        short.extend_batch([[1], [2, 3]], fill(short, [[[1], [2]]]))
