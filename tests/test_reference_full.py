"""The oracle is right: against plain loops, against figures, and in what it refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cachecheck import strategies as cs
from cachecheck.errors import InputError
from cachecheck.reference import FROZEN, Config, ReferenceDecoder, draw_weights, full
from cachecheck.reference.decoder import config_of
from cachecheck.reference.positions import alibi_bias, rotate, sinusoidal
from tests.helpers import TOLERANCE, largest, slow_rows


@given(cs.decoders(), st.data())
def test_the_full_pass_equals_plain_loops(decoder: ReferenceDecoder, data: st.DataObject) -> None:
    tokens = data.draw(cs.token_ids(decoder.vocab_size, max_size=12))
    # Logits are sums of up to 16 terms of order one: rounding grows with them.
    expected = slow_rows(decoder.weights, tokens)
    scale = max(1.0, float(np.abs(expected).max()))
    assert largest(decoder.full(tokens), expected) < TOLERANCE * scale


@given(cs.decoders(), st.data())
def test_later_tokens_never_reach_earlier_rows(
    decoder: ReferenceDecoder, data: st.DataObject
) -> None:
    tokens = data.draw(cs.token_ids(decoder.vocab_size, min_size=2))
    cut = data.draw(st.integers(1, len(tokens) - 1))
    later = [(token + 1) % decoder.vocab_size for token in tokens[cut:]]
    rows, changed = decoder.full(tokens), decoder.full([*tokens[:cut], *later])
    # The same shapes are multiplied in the same order, and a masked key weighs exactly zero.
    assert np.array_equal(rows[:cut], changed[:cut])


def test_without_the_mask_later_tokens_do_reach_earlier_rows() -> None:
    weights = draw_weights(FROZEN, 7)
    tokens = (7 * np.arange(24) + 3) % 32
    changed = np.concatenate([tokens[:12], (tokens[12:] + 1) % 32])
    rows = full(weights, tokens, causal=False).rows
    moved = full(weights, changed, causal=False).rows
    assert largest(rows[:12], moved[:12]) > 1e-2


@given(cs.decoders(), st.data())
def test_probabilities_sum_to_one_and_vanish_above_the_diagonal(
    decoder: ReferenceDecoder, data: st.DataObject
) -> None:
    tokens = data.draw(cs.token_ids(decoder.vocab_size))
    for layer in full(decoder.weights, tokens).probabilities:
        assert layer.shape == (decoder.config.heads, len(tokens), len(tokens))
        assert np.all(np.triu(layer, 1) == 0)
        assert np.allclose(layer.sum(axis=-1), 1, rtol=0, atol=TOLERANCE)


@given(cs.decoders(configs=cs.configs(windows=st.none())), st.data())
def test_a_window_as_long_as_the_sequence_changes_nothing(
    decoder: ReferenceDecoder, data: st.DataObject
) -> None:
    tokens = data.draw(cs.token_ids(decoder.vocab_size))
    windowed = replace(decoder.config, window=len(tokens))
    wide = ReferenceDecoder(windowed, seed=decoder.seed)
    assert np.array_equal(wide.full(tokens), decoder.full(tokens))


def test_weights_of_the_frozen_model_come_in_the_published_order() -> None:
    rng = np.random.default_rng(7)
    weights = draw_weights(FROZEN, 7)
    assert np.array_equal(weights.embedding, rng.normal(0, 0.3, (32, 16)))
    for layer in weights.layers:
        for matrix in (layer.query, layer.key, layer.value):
            assert np.array_equal(matrix, rng.normal(0, 0.25, (16, 16)))


def test_an_mlp_and_logits_leave_the_frozen_weights_alone() -> None:
    plain, more = draw_weights(FROZEN, 3), draw_weights(Config(mlp_width=8, output="logits"), 3)
    assert np.array_equal(plain.embedding, more.embedding)
    assert np.array_equal(plain.layers[1].value, more.layers[1].value)


def test_seed_0_of_the_reference_target_is_the_frozen_model_and_others_cover_every_feature() -> (
    None
):
    configs = [config_of(seed) for seed in range(256)]
    assert configs[0] == FROZEN
    for name, values in {
        "positions": {"sinusoidal", "rotary", "alibi", "learned", "none"},
        "output": {"hidden", "logits"},
        "dtype": {"float64", "float32"},
        "normalise": {True, False},
        "key_value_heads": {1, 2},
        "heads": {1, 2, 4},
        "sinks": {0, 1, 2},
        "window": {None, *range(1, 9)},
    }.items():
        assert {getattr(config, name) for config in configs} == values, name


def test_float32_stays_float32_throughout() -> None:
    for positions in ("sinusoidal", "rotary", "alibi", "none"):
        config = Config(positions=positions, dtype="float32", normalise=True, mlp_width=8)
        trace = full(draw_weights(config, 1), [1, 2, 3])
        assert trace.rows.dtype == trace.hidden.dtype == trace.probabilities[0].dtype == np.float32


def test_rotary_scores_depend_on_distance_alone() -> None:
    rng = np.random.default_rng(0)
    query, key = rng.normal(size=(2, 1, 1, 8))
    here = rotate(query, np.array([9])) @ rotate(key, np.array([5])).transpose(0, 2, 1)
    there = rotate(query, np.array([104])) @ rotate(key, np.array([100])).transpose(0, 2, 1)
    assert largest(here, there) < TOLERANCE


def test_position_codes_have_their_published_form() -> None:
    code = sinusoidal(np.array([0, 3]), 4)
    assert (
        largest(code, np.array([[0, 1, 0, 1], [np.sin(3), np.cos(3), np.sin(0.03), np.cos(0.03)]]))
        < 1e-15
    )
    bias = alibi_bias(np.array([2]), np.array([0, 1, 2]), 2)
    assert np.array_equal(bias, [[[-2 / 16, -1 / 16, 0]], [[-2 / 256, -1 / 256, 0]]])


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        ([], "must not be empty"),
        ([0.5], "must be integers; got float64"),
        ([True], "must be integers; got bool"),
        (["a"], "must be integers"),
        ([[1, 2]], "one-dimensional"),
        (3, "one-dimensional"),
        ([0, 32], "token 32 at index 1 is outside the vocabulary of 32"),
        ([-1], "token -1 at index 0"),
    ],
)
def test_bad_tokens_are_refused_in_one_line(tokens: Any, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        full(draw_weights(FROZEN, 0), tokens)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("positions", "said"),
    [
        ([0, 2], "must be consecutive; 0 is followed by 2"),
        ([1, 1], "must be consecutive"),
        ([-1, 0], "must be >= 0"),
        ([0], "one position a token"),
        ([0.0, 1.0], "must be integers"),
    ],
)
def test_positions_with_gaps_are_refused(positions: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        full(draw_weights(FROZEN, 0), [4, 5], positions=positions)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"window": 0}, "Config.window must be an integer >= 1; got 0"),
        ({"window": True}, "Config.window"),
        ({"layers": 0}, "Config.layers"),
        ({"vocab_size": 1}, "Config.vocab_size must be an integer >= 2"),
        ({"heads": 4, "key_value_heads": 3}, "must divide heads"),
        ({"positions": "absolute"}, "Config.positions must be one of sinusoidal, rotary"),
        ({"positions": "rotary", "head_width": 5}, "even head_width"),
        ({"width": 5}, "even width"),
        ({"positions": "learned"}, "max_length"),
        ({"sinks": 1}, "only with a window"),
        ({"dtype": "int8"}, "Config.dtype"),
        ({"normalise": 1}, "Config.normalise"),
    ],
)
def test_impossible_configurations_are_refused(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Config(**fields)


def test_a_sequence_past_max_length_is_refused() -> None:
    weights = draw_weights(Config(positions="learned", max_length=4), 0)
    full(weights, [0, 1, 0, 1])
    with pytest.raises(InputError, match="5 tokens exceed max_length 4"):
        full(weights, [0, 1, 0, 1, 0])


@pytest.mark.parametrize("seed", [-1, 1.5, True, None])
def test_a_seed_is_a_natural_number(seed: Any) -> None:
    with pytest.raises(InputError, match="a seed must be an integer >= 0"):
        draw_weights(FROZEN, seed)
