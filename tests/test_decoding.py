"""The main property, and what it rests on: caches that are values, positions, windows, work."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cachecheck import strategies as cs
from cachecheck.errors import InputError
from cachecheck.reference import (
    FROZEN,
    WRONG_MASKS,
    Cache,
    Config,
    LayerCache,
    Mechanisms,
    ReferenceDecoder,
    Work,
    by_chunks,
    by_prefixes,
    by_tokens,
    draw_weights,
    extend,
    full,
    new_cache,
)
from tests.helpers import TOLERANCE, largest

data = st.data()


def draw_sequence(draw: st.DataObject, decoder: ReferenceDecoder, least: int = 1) -> Any:
    """Tokens for ``decoder``, of a length around its window where it has one."""
    length = draw.draw(cs.lengths(min_value=least, window=decoder.window))
    return draw.draw(cs.token_ids(decoder.vocab_size, min_size=length, max_size=length))


def bytes_of(cache: Cache) -> list[bytes]:
    """Every byte of a cache, in order."""
    return [array.tobytes() for layer in cache.state() for array in layer.values()]


def check_chunk_property(decoder: ReferenceDecoder, draw: st.DataObject) -> None:
    tokens = draw_sequence(draw, decoder)
    chunks = draw.draw(cs.chunk_partitions(len(tokens)))
    oracle = full(decoder.weights, tokens)
    scale = max(1.0, float(np.abs(oracle.rows).max()))  # logits exceed 1
    decoded = by_chunks(decoder.weights, tokens, chunks)
    assert largest(decoded.rows, oracle.rows) < TOLERANCE * scale
    assert largest(decoded.hidden, oracle.hidden) < TOLERANCE


@given(cs.decoders(), data)
def test_chunk_property(decoder: ReferenceDecoder, data: st.DataObject) -> None:
    """Any chunks give the rows of the full pass, at every position and every layer."""
    check_chunk_property(decoder, data)


@given(cs.decoders(), data)
def test_prefix_token_and_full_agree_at_every_position_and_layer(
    decoder: ReferenceDecoder, data: st.DataObject
) -> None:
    tokens = draw_sequence(data, decoder)
    oracle = full(decoder.weights, tokens)
    scale = max(1.0, float(np.abs(oracle.rows).max()))
    for way in (by_prefixes, by_tokens):
        decoded = way(decoder.weights, tokens)
        assert largest(decoded.rows, oracle.rows) < TOLERANCE * scale
        assert largest(decoded.hidden, oracle.hidden) < TOLERANCE


@given(cs.decoders(configs=cs.configs(dtypes=st.just("float32"))), data)
def test_float32_chunks_agree_within_float32(
    decoder: ReferenceDecoder, data: st.DataObject
) -> None:
    tokens = draw_sequence(data, decoder)
    chunks = data.draw(cs.chunk_partitions(len(tokens)))
    oracle = decoder.full(tokens)
    rows = by_chunks(decoder.weights, tokens, chunks).rows
    assert rows.dtype == np.float32
    # 250 units of 2^-23 of the largest entry: the bound of tolerance.py, argued there.
    assert largest(rows, oracle) < 3e-5 * float(np.abs(oracle).max())


@given(cs.decoders(), data)
def test_a_call_leaves_its_cache_byte_identical_and_branches_apart(
    decoder: ReferenceDecoder, data: st.DataObject
) -> None:
    tokens = draw_sequence(data, decoder)
    left = data.draw(cs.token_ids(decoder.vocab_size, max_size=6))
    right = data.draw(cs.token_ids(decoder.vocab_size, max_size=6))
    _, trunk = decoder.extend(tokens, decoder.new_cache())
    before = bytes_of(trunk)
    rows_left, cache_left = decoder.extend(left, trunk)
    after_left = bytes_of(cache_left)
    rows_right, _ = decoder.extend(right, trunk)
    assert bytes_of(trunk) == before
    assert bytes_of(cache_left) == after_left
    for branch, rows in ((left, rows_left), (right, rows_right)):
        expected = decoder.full([*tokens, *branch])[len(tokens) :]
        assert largest(rows, expected) < TOLERANCE * max(1.0, float(np.abs(expected).max()))
    again, _ = decoder.extend(left, trunk)
    assert np.array_equal(again, rows_left)


def test_the_arrays_of_a_cache_refuse_to_be_written() -> None:
    decoder = ReferenceDecoder()
    _, cache = decoder.extend([1, 2, 3], decoder.new_cache())
    for array in cache.state()[0].values():
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@given(cs.decoders(configs=cs.configs(windows=cs.windows())), data)
def test_a_windowed_cache_keeps_its_window_and_no_more(
    decoder: ReferenceDecoder, data: st.DataObject
) -> None:
    tokens = draw_sequence(data, decoder)
    chunks = data.draw(cs.chunk_partitions(len(tokens)))
    decoded = by_chunks(decoder.weights, tokens, chunks)
    assert decoded.cache is not None
    config, length = decoder.config, len(tokens)
    assert config.window is not None
    kept = [p for p in range(length) if p > length - 1 - config.window or p < config.sinks]
    for layer in decoded.cache.layers:
        assert layer.positions.tolist() == kept
        assert layer.key.shape == (config.key_value_heads, len(kept), config.head_width)


@settings(max_examples=25)  # each one perturbs up to 96 elements
@given(cs.decoders(), data)
def test_every_cached_element_that_a_row_can_see_moves_it(
    decoder: ReferenceDecoder, data: st.DataObject
) -> None:
    """No position, head, layer or column is idle: a cache that loses any of them is found out."""
    length = data.draw(st.integers(2, 6))
    tokens = [position % decoder.vocab_size for position in range(length)]
    _, cache = decoder.extend(tokens, decoder.new_cache())
    number = data.draw(st.integers(0, len(cache.layers) - 1))
    name = data.draw(st.sampled_from(["key", "value"]))
    layer = cache.layers[number]
    visible = offset_visible(decoder.config, layer, length)
    # Without marks of position, equal tokens have equal values, among which it does not matter how
    # attention is shared out: the probe differs from the first token that it sees.
    first = tokens[layer.positions[int(np.argmax(visible))]]
    probe = [(first + 1) % decoder.vocab_size]
    rows, _ = decoder.extend(probe, cache)
    for index in np.ndindex(getattr(layer, name).shape):
        array = getattr(layer, name).copy()
        array[index] += 0.5
        arrays = {"key": layer.key, "value": layer.value, "positions": layer.positions, name: array}
        touched = LayerCache(**{key: value.copy() for key, value in arrays.items()})
        layers = (*cache.layers[:number], touched, *cache.layers[number + 1 :])
        moved, _ = decoder.extend(probe, Cache(layers, cache.length, 1, cache.fingerprint))
        if visible[index[1]]:
            assert largest(moved, rows) > 1e-9, (number, name, index)
        else:
            assert np.array_equal(moved, rows)


def offset_visible(config: Config, layer: LayerCache, query: int) -> Any:
    """Which retained positions the row at ``query`` can see: all but the window's oldest."""
    if config.window is None:
        return np.ones(len(layer.positions), bool)
    return (layer.positions > query - config.window) | (layer.positions < config.sinks)


@given(cs.decoders(configs=st.just(FROZEN)), data)
def test_editing_a_prefix_invalidates_its_cache(
    decoder: ReferenceDecoder, data: st.DataObject
) -> None:
    tokens = data.draw(cs.token_ids(decoder.vocab_size, min_size=2))
    at = data.draw(st.integers(0, len(tokens) - 2))
    edited = [*tokens[:at], (tokens[at] + 1) % decoder.vocab_size, *tokens[at + 1 :]]
    _, stale = decoder.extend(tokens[:-1], decoder.new_cache())
    _, fresh = decoder.extend(edited[:-1], decoder.new_cache())
    expected = decoder.full(edited)[-1:]
    assert largest(decoder.extend(edited[-1:], stale)[0], expected) > 1e-6
    assert largest(decoder.extend(edited[-1:], fresh)[0], expected) < TOLERANCE


@given(cs.decoders(), data)
def test_work_and_payload_are_what_the_closed_forms_say(
    decoder: ReferenceDecoder, data: st.DataObject
) -> None:
    config, weights = decoder.config, decoder.weights
    tokens = draw_sequence(data, decoder)
    chunks = data.draw(cs.chunk_partitions(len(tokens)))
    length, layers, heads = len(tokens), config.layers, config.heads
    prefix, cached = Work(), Work()
    by_prefixes(weights, tokens, work=prefix)
    decoded = by_chunks(weights, tokens, chunks, work=cached)
    assert prefix.projected_rows == 3 * layers * length * (length + 1) // 2
    assert prefix.score_elements == (layers * heads * length * (length + 1) * (2 * length + 1) // 6)
    assert cached.projected_rows == 3 * layers * length
    past = scores = 0
    for chunk, payload in zip(chunks, decoded.payloads, strict=True):
        scores += chunk * (retained(config, past) + chunk)
        past += chunk
        per_position = 2 * layers * config.key_value_heads * config.head_width * 8
        assert payload == retained(config, past) * per_position
    assert cached.score_elements == layers * heads * scores


def retained(config: Config, length: int) -> int:
    """Positions that a cache of ``length`` tokens keeps in each layer."""
    if config.window is None:
        return length
    return length - max(0, length - config.window - min(config.sinks, length))


@pytest.mark.parametrize("seed", [7, 19, 41])
def test_the_published_counts_come_out(seed: int) -> None:
    weights, tokens = draw_weights(FROZEN, seed), (7 * np.arange(24) + 3) % 32
    prefix, cached = Work(), Work()
    by_prefixes(weights, tokens, work=prefix)
    decoded = by_tokens(weights, tokens, work=cached)
    assert (prefix.projected_rows, cached.projected_rows) == (1800, 144)
    assert (prefix.score_elements, cached.score_elements) == (9800, 600)
    assert decoded.payloads[-1] == 12288
    windowed = by_tokens(draw_weights(Config(window=4), seed), tokens)
    assert windowed.payloads[-1] == 2048


@given(cs.decoders(configs=st.just(FROZEN)), st.sampled_from(sorted(WRONG_MASKS)), data)
def test_a_decoder_with_a_wrong_mask_differs_exactly_where_the_mask_does(
    decoder: ReferenceDecoder, name: str, data: st.DataObject
) -> None:
    tokens = data.draw(cs.token_ids(32, min_size=2, max_size=12))
    chunks = data.draw(cs.chunk_partitions(len(tokens)))
    rule = WRONG_MASKS[name].rule
    differs = False
    past = last_chunk = 0
    for chunk in chunks:
        query, key = past + np.arange(chunk), np.arange(past + chunk)
        spoilt = rule(query, key, window=None, sinks=0, last_chunk=last_chunk)
        differs |= not np.array_equal(spoilt, key[None, :] <= query[:, None])
        past, last_chunk = past + chunk, chunk
    right = by_chunks(decoder.weights, tokens, chunks).rows
    wrong = by_chunks(decoder.weights, tokens, chunks, mask_rule=rule).rows
    assert (largest(wrong, right) > 1e-6) if differs else np.array_equal(wrong, right)


def test_caches_of_other_decoders_are_refused() -> None:
    decoder, other = ReferenceDecoder(seed=1), ReferenceDecoder(seed=2)
    _, cache = decoder.extend([1, 2], decoder.new_cache())
    with pytest.raises(InputError, match="filled by another decoder"):
        other.extend([3], cache)
    with pytest.raises(InputError, match="expected a reference Cache; got dict"):
        decoder.extend([3], {})  # type: ignore[arg-type]
    torn = Cache((cache.layers[0],), cache.length, 1, cache.fingerprint)
    with pytest.raises(InputError, match="expected 2 cached layers; got 1"):
        decoder.extend([3], torn)
    longer = Cache(cache.layers, cache.length + 1, 1, cache.fingerprint)
    with pytest.raises(InputError, match="layer 0 of the cache holds 2 tokens, the cache 3"):
        decoder.extend([3], longer)


def test_a_layer_is_appended_to_without_gaps() -> None:
    empty = new_cache(draw_weights(FROZEN, 0)).layers[0]
    key = np.zeros((1, 2, 16))
    two = empty.append(key, key, np.array([0, 1]))
    with pytest.raises(InputError, match="must go on at 2, the cache's next; got 3"):
        two.append(key, key, np.array([3, 4]))
    with pytest.raises(InputError, match="must be consecutive"):
        two.append(key, key, np.array([2, 4]))
    with pytest.raises(InputError, match="3 positions need as many keys"):
        two.append(key, key, np.array([2, 3, 4]))


@pytest.mark.parametrize("chunks", [[], [0, 3], [2], [2, 2], [-1, 4]])
def test_chunks_that_are_no_partition_are_refused(chunks: list[int]) -> None:
    with pytest.raises(InputError, match="must be >= 1 and add up to 3 tokens"):
        by_chunks(draw_weights(FROZEN, 0), [1, 2, 3], chunks)


@pytest.mark.parametrize("given_positions", [[0], [0, 0, 0], [-1, 0], [0.5, 1.5]])
def test_input_positions_are_one_a_token(given_positions: Any) -> None:
    weights = draw_weights(FROZEN, 0)
    mechanisms = Mechanisms(input_positions=given_positions)
    with pytest.raises(InputError, match="input positions"):
        extend(weights, [1, 2], new_cache(weights), mechanisms=mechanisms)


def test_the_cached_path_refuses_to_outgrow_max_length() -> None:
    decoder = ReferenceDecoder(Config(positions="learned", max_length=3))
    _, cache = decoder.extend([1, 2], decoder.new_cache())
    with pytest.raises(InputError, match="4 tokens exceed max_length 3"):
        decoder.extend([1, 2], cache)
