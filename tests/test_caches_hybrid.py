"""The hybrid decoder: chunks against one pass, both against loops, forks, refusals and bytes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cachecheck import strategies as cs
from cachecheck.errors import InputError, Unsupported
from cachecheck.reference import Config
from cachecheck.reference.caches.hybrid import HybridDecoder, hybrid
from cachecheck.reference.caches.hybrid_cache import (
    AttentionState,
    HybridCache,
    RecurrentState,
    retained_positions,
)
from cachecheck.reference.caches.hybrid_recurrence import block_whole, recur_whole
from cachecheck.reference.caches.hybrid_weights import RecurrentWeights
from tests.helpers import TOLERANCE, Array, largest

data = st.data()
decoders = st.builds(
    HybridDecoder, cs.configs(max_layers=2), kernel_width=st.integers(2, 4), seed=cs.seeds()
)
SMALL = Config(vocab_size=8, width=8, layers=1, head_width=8)


def draw_sequence(draw: st.DataObject, decoder: HybridDecoder) -> tuple[int, ...]:
    length = draw.draw(cs.lengths(window=decoder.window, max_value=24))
    return draw.draw(cs.token_ids(decoder.vocab_size, min_size=length, max_size=length))


def bytes_of(cache: HybridCache) -> list[bytes]:
    return [array.tobytes() for layer in cache.state() for array in layer.values()]


def check_rows(rows: Array, expected: Array) -> None:
    assert np.all(np.isfinite(rows))
    assert largest(rows, expected) < TOLERANCE * max(1.0, float(np.abs(expected).max()))


def check_chunks(decoder: HybridDecoder, tokens: Sequence[int], chunks: Any) -> HybridCache:
    """Rows of ``tokens`` cut into ``chunks`` are those of one pass; returns the cache."""
    cache, rows, past = decoder.new_cache(), [], 0
    for chunk in chunks:
        new, cache = decoder.extend(tokens[past : past + chunk], cache)
        rows.append(new)
        past += chunk
    check_rows(np.concatenate(rows), decoder.full(tokens))
    return cache


@settings(max_examples=30)
@given(decoders, data)
def test_any_chunks_give_the_rows_of_the_full_pass(
    decoder: HybridDecoder, data: st.DataObject
) -> None:
    tokens = draw_sequence(data, decoder)
    cache = check_chunks(decoder, tokens, data.draw(cs.chunk_partitions(len(tokens))))
    for layer in cache.layers:
        if isinstance(layer, AttentionState):
            assert np.array_equal(layer.positions, retained_positions(len(tokens), decoder.config))
            assert layer.key.shape[1] == len(layer.positions)
        else:
            assert layer.tail.shape == (decoder.weights.kernel_width - 1, decoder.config.width)
    assert decoder.work() == 3 * len(decoder.weights.layers) * len(tokens)


@pytest.mark.parametrize("seed", range(8))
def test_every_seed_is_a_decoder_of_its_own(seed: int) -> None:
    decoder = hybrid(seed)
    tokens = [(7 * i + seed) % decoder.vocab_size for i in range(12)]
    check_chunks(decoder, tokens, [1, 4, 2, 5])
    assert repr(decoder) == repr(hybrid(seed))
    assert decoder.weights.fingerprint != hybrid(seed + 1).weights.fingerprint
    assert np.array_equal(decoder.full(tokens), hybrid(seed).full(tokens))


def test_seed_0_is_plain() -> None:
    decoder = hybrid(0)
    assert (decoder.window, decoder.max_length, decoder.dtype) == (None, None, "float64")
    assert [sorted(layer) for layer in decoder.state(decoder.new_cache())] == [
        ["carry", "tail"],
        ["key", "positions", "value"],
    ]


class RestartingState(HybridDecoder):
    """Starts the recurrence anew in every call."""

    lost = "carry"

    def extend(self, tokens: Any, cache: HybridCache) -> tuple[Array, HybridCache]:
        rows, after = super().extend(tokens, cache)
        layers = tuple(
            replace(one, **{self.lost: np.zeros_like(getattr(one, self.lost))})
            if isinstance(one, RecurrentState)
            else one
            for one in after.layers
        )
        return rows, replace(after, layers=layers)


class RestartingConvolution(RestartingState):
    """Reads zeros before every chunk."""

    lost = "tail"


class ForgettingAttention(HybridDecoder):
    """Attends over the chunk alone, its recurrence being right."""

    def extend(self, tokens: Any, cache: HybridCache) -> tuple[Array, HybridCache]:
        empty = self.new_cache().layers[1::2]
        layers = [one for pair in zip(cache.layers[::2], empty, strict=True) for one in pair]
        return super().extend(tokens, replace(cache, layers=tuple(layers)))


BROKEN = [RestartingState, RestartingConvolution, ForgettingAttention]


@pytest.mark.parametrize("broken", BROKEN)
def test_a_decoder_that_forgets_between_chunks_is_found_out(broken: type[HybridDecoder]) -> None:
    decoder = broken(SMALL)
    check_chunks(decoder, [1, 2, 3, 4, 5], [5])
    with pytest.raises(AssertionError):
        check_chunks(decoder, [1, 2, 3, 4, 5], [2, 3])


@settings(max_examples=20)
@given(decoders, data)
def test_a_whole_recurrent_block_is_what_plain_loops_compute(
    decoder: HybridDecoder, data: st.DataObject
) -> None:
    config, block = decoder.config, decoder.weights.layers[0]
    assert isinstance(block, RecurrentWeights)
    rng = np.random.default_rng(data.draw(cs.seeds()))
    x = rng.normal(size=(data.draw(st.integers(1, 12)), config.width))
    check_rows(block_whole(x, block, config), slow_block(x, block, config))


def slow_block(x: Array, block: RecurrentWeights, config: Config) -> Array:
    """The block from its description, row by row and column by column."""
    normal = [row / math.sqrt(np.mean(row**2) + 1e-6) if config.normalise else row for row in x]
    inner = [row @ block.inner for row in normal]
    state, rows = [0.0] * config.width, []
    for t, row in enumerate(x):
        fresh = np.zeros(config.width)
        for c in range(config.width):
            reach = range(min(t + 1, len(block.kernel)))
            fresh[c] = math.tanh(sum(inner[t - j][c] * block.kernel[j, c] for j in reach))
        keep = [1 / (1 + math.exp(-1 - z)) for z in fresh @ block.decay]
        assert all(0 < a < 1 for a in keep)
        state = [a * h + (1 - a) * f for a, h, f in zip(keep, state, fresh, strict=True)]
        gate = [1 / (1 + math.exp(-z)) for z in normal[t] @ block.gate]
        shown = np.array([g * h for g, h in zip(gate, state, strict=True)])
        rows.append(np.tanh(row + shown @ block.output))
    return np.stack(rows)


@settings(max_examples=30)
@given(st.integers(1, 60), st.sampled_from([0.1, 1.0, 30.0, 900.0]), cs.seeds())
def test_the_closed_form_neither_overflows_nor_loses_digits(
    length: int, spread: float, seed: int
) -> None:
    """Also where a state is kept or dropped altogether."""
    rng = np.random.default_rng(seed)
    strength, fresh = spread * rng.normal(size=(length, 3)), rng.uniform(-1, 1, (length, 3))
    state, expected = np.zeros(3), []
    for z, f in zip(strength, fresh, strict=True):
        keep = np.array([1 / (1 + math.exp(-v)) if v > -700 else 0.0 for v in z])
        state = keep * state + np.array([1 / (1 + math.exp(v)) if v < 700 else 0.0 for v in z]) * f
        expected.append(state)
    with np.errstate(over="raise", invalid="raise"):
        check_rows(recur_whole(strength, fresh), np.stack(expected))


@settings(max_examples=25)
@given(decoders, data)
def test_forks_do_not_see_each_other_and_old_caches_stay_byte_identical(
    decoder: HybridDecoder, data: st.DataObject
) -> None:
    trunk_tokens = draw_sequence(data, decoder)
    _, trunk = decoder.extend(trunk_tokens, decoder.new_cache())
    before = bytes_of(trunk)
    ends = []
    for _ in range(2):
        branch = data.draw(cs.token_ids(decoder.vocab_size, max_size=5))
        rows, cache = decoder.extend(branch, trunk)
        check_rows(rows, decoder.full([*trunk_tokens, *branch])[len(trunk_tokens) :])
        ends.append((branch, cache, bytes_of(cache)))
    assert bytes_of(trunk) == before
    for branch, cache, end in ends:
        assert bytes_of(cache) == end
        assert bytes_of(decoder.extend(branch, trunk)[1]) == end


def test_the_arrays_of_a_cache_refuse_to_be_written() -> None:
    decoder = hybrid(0)
    for cache in (decoder.new_cache(), decoder.extend([1, 2, 3], decoder.new_cache())[1]):
        for layer in decoder.state(cache):
            for array in layer.values():
                with pytest.raises(ValueError, match="read-only"):
                    array[...] = 0


def test_a_recurrent_state_cannot_be_rolled_back() -> None:
    decoder = hybrid(0)
    _, cache = decoder.extend([1, 2, 3], decoder.new_cache())
    assert decoder.crop(cache, 3) is cache
    for length in (0, 2, 4, -1):
        with pytest.raises(Unsupported, match="a recurrent state cannot be rolled back from 3"):
            decoder.crop(cache, length)


@settings(max_examples=15)
@given(decoders, data)
def test_a_saved_cache_goes_on_as_if_it_had_never_left(
    decoder: HybridDecoder, data: st.DataObject
) -> None:
    tokens = draw_sequence(data, decoder)
    _, cache = decoder.extend(tokens, decoder.new_cache())
    loaded = decoder.load(decoder.save(cache))
    assert bytes_of(loaded) == bytes_of(cache)
    again, _ = decoder.extend(tokens[:1], loaded)
    assert np.array_equal(again, decoder.extend(tokens[:1], cache)[0])


WINDOWED = HybridDecoder(replace(SMALL, window=3, sinks=1), seed=3)
SAVED = WINDOWED.save(WINDOWED.extend([1, 2, 3, 4, 5, 6], WINDOWED.new_cache())[1])


@settings(max_examples=60)
@given(st.integers(0, len(SAVED) - 1), st.integers(1, 255), st.booleans())
def test_damaged_bytes_are_refused_or_harmless(at: int, flip: int, cut: bool) -> None:
    damaged = SAVED[:at] if cut else SAVED[:at] + bytes([SAVED[at] ^ flip]) + SAVED[at + 1 :]
    try:
        loaded = WINDOWED.load(damaged)
    except InputError:
        pass
    else:  # a date or a comment in the archive
        assert WINDOWED.save(loaded) == SAVED


def test_what_is_no_saved_cache_of_this_decoder_is_refused() -> None:
    with pytest.raises(InputError, match="filled by another decoder"):
        HybridDecoder(WINDOWED.config, seed=4).load(SAVED)
    with pytest.raises(InputError, match="expected the bytes of a saved hybrid cache"):
        WINDOWED.load(b"")
    cache = WINDOWED.load(SAVED)
    with pytest.raises(InputError, match="layer 1 of the saved cache does not hold the positions"):
        WINDOWED.load(WINDOWED.save(replace(cache, length=7)))
    with pytest.raises(InputError, match=r"layer 0 of the saved cache must hold tail of float64"):
        WINDOWED.load(WINDOWED.save(replace(cache, layers=cache.layers[1:])))
    spoilt = RecurrentState(np.full((2, 8), np.nan), np.zeros(8))
    with pytest.raises(InputError, match="values in tail that are not finite"):
        WINDOWED.load(WINDOWED.save(replace(cache, layers=(spoilt, cache.layers[1]))))


def test_bad_input_is_refused_in_one_line() -> None:
    decoder, other = hybrid(0), hybrid(1)
    _, cache = decoder.extend([1], decoder.new_cache())
    with pytest.raises(InputError, match="filled by another decoder"):
        other.extend([1], cache)
    with pytest.raises(InputError, match="expected a HybridCache; got dict"):
        decoder.extend([1], {})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="outside the vocabulary"):
        decoder.extend([99], cache)
    short = HybridDecoder(replace(SMALL, positions="learned", max_length=2))
    with pytest.raises(InputError, match="3 tokens exceed max_length 2"):
        short.extend([1, 2], short.extend([1], short.new_cache())[1])
