"""Layers that use the keys and values of another: their rows, their cache, what they are given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cachecheck import strategies as cs
from cachecheck.errors import InputError
from cachecheck.reference.caches.tied import TiedDecoder, tied
from cachecheck.reference.caches.tied_weights import Receiver
from cachecheck.reference.config import Config
from cachecheck.reference.weights import Floats, LayerWeights
from tests.helpers import largest
from tests.test_caches_programs import Program, allowance, bytes_of, programs, run, seeds

PLAIN = Config(vocab_size=7, width=6, layers=2, heads=2, head_width=4, positions="none")


def plain_rows(decoder: TiedDecoder, tokens: list[int]) -> Floats:
    """Rows (T, width) of a decoder of `PLAIN`, token by token and head by head in plain loops."""
    x = decoder.weights.embedding[tokens]
    for owner, receiver in zip(decoder.weights.layers, decoder.receivers, strict=True):
        keys, values = x @ owner.key, x @ owner.value  # of the owner's input, for both layers
        for layer in (owner, receiver):
            x = plain_layer(x, layer, keys, values)
    return x


def plain_layer(x: Floats, layer: LayerWeights | Receiver, keys: Floats, values: Floats) -> Floats:
    """One layer (T, width) -> (T, width) over the keys and values (T, D) of one head."""
    rows = []
    assert layer.output is not None
    for at, row in enumerate(x):
        mixed = []
        for query in np.split(row @ layer.query, PLAIN.heads):  # (D,)
            scores = keys[: at + 1] @ query / np.sqrt(PLAIN.head_width)  # (at+1,)
            weights = np.exp(scores) / np.exp(scores).sum()
            mixed.append(weights @ values[: at + 1])
        rows.append(np.tanh(row + np.concatenate(mixed) @ layer.output))
    return np.array(rows)


def test_the_full_pass_is_that_of_plain_loops() -> None:
    decoder, tokens = TiedDecoder(PLAIN, seed=3), [3, 1, 6, 6, 0, 2]
    assert largest(decoder.full(tokens), plain_rows(decoder, tokens)) < 1e-12


@settings(max_examples=25)
@given(seed=seeds, data=st.data())
def test_any_chunks_give_the_rows_of_the_full_pass(seed: int, data: st.DataObject) -> None:
    decoder = tied(seed)
    length = data.draw(cs.lengths(max_value=20, window=decoder.window))
    tokens = data.draw(cs.token_ids(decoder.vocab_size, min_size=length, max_size=length))
    expected, cache, past = decoder.full(tokens), decoder.new_cache(), 0
    for chunk in data.draw(cs.chunk_partitions(length)):
        rows, cache = decoder.extend(tokens[past : past + chunk], cache)
        due = expected[past : past + chunk]
        assert largest(rows, due) <= allowance(decoder, expected)
        past += chunk
    assert decoder.work() == 4 * decoder.config.layers * length  # three of an owner, one query


@settings(max_examples=20)
@given(seed=seeds, program=programs)
def test_programs_of_operations_keep_rows_right_and_branches_apart(
    seed: int, program: Program
) -> None:
    run(tied(seed), program)


def test_a_cache_has_one_layer_for_two_and_is_never_changed() -> None:
    decoder = tied(1)
    _, cache = decoder.extend([1, 0, 1], decoder.new_cache())
    before = bytes_of(decoder, cache)
    state = decoder.state(cache)
    assert len(state) == decoder.config.layers == len(decoder.receivers)
    assert {name for layer in state for name in layer} == {"key", "value", "positions"}
    decoder.extend([1, 1], cache)
    assert bytes_of(decoder, cache) == before
    assert not decoder.mutates_cache


def test_a_receiver_matters_to_every_row() -> None:
    decoder, other = tied(0), tied(0)
    other.receivers = tuple(Receiver(one.query * 0, one.output) for one in other.receivers)
    difference = abs(decoder.full([1, 0, 2]) - other.full([1, 0, 2])).max(axis=1)
    assert difference[0] == 0  # one key alone has all the weight, whatever the query
    assert (difference[1:] > 1e-3).all()


def test_the_owner_has_the_weights_of_the_reference_and_the_fingerprint_covers_receivers() -> None:
    decoder = tied(0)
    assert decoder.config.layers == 1
    other: Any = TiedDecoder(decoder.config, seed=1)
    assert decoder.weights.fingerprint != other.weights.fingerprint
    with pytest.raises(InputError, match="filled by another decoder"):
        decoder.extend([1], other.new_cache())
    with pytest.raises(InputError, match="saved by another decoder"):
        decoder.load(other.save(other.new_cache()))


def test_bad_tokens_and_bytes_are_refused() -> None:
    decoder = tied(0)
    for tokens in ([], [0, decoder.vocab_size], [0.5]):
        with pytest.raises(InputError):
            decoder.full(tokens)
        with pytest.raises(InputError):
            decoder.extend(tokens, decoder.new_cache())
    with pytest.raises(InputError, match="not a saved cache"):
        decoder.load(b"PK")


def test_a_saved_and_a_cropped_cache_go_on_as_if_nothing_had_been() -> None:
    decoder, tokens = tied(0, "float32"), [3, 1, 4, 1, 5]
    assert decoder.dtype == "float32"
    _, cache = decoder.extend(tokens, decoder.new_cache())
    loaded = decoder.load(decoder.save(decoder.crop(cache, 3)))
    rows, _ = decoder.extend(tokens[3:], loaded)
    assert largest(rows, decoder.full(tokens)[3:]) < 3e-5
