"""What every kind of cache promises: rows of the full pass, crop, save, work, clean refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cachecheck import strategies as cs
from cachecheck.errors import InputError, Unsupported
from cachecheck.protocol import capabilities
from cachecheck.reference import Cache, Config, Mechanisms, ReferenceDecoder, offset_mask
from cachecheck.reference.caches import CACHES
from cachecheck.reference.caches.ring import RingStorage
from cachecheck.reference.caches.static import StaticStorage
from cachecheck.reference.stored import InPlaceDecoder, StoredDecoder
from tests.helpers import largest
from tests.test_caches_programs import KINDS, allowance, bytes_of, seeds

data = st.data()
IN_PLACE = ("static", "ring", "sinks", "paged", "prefix")
every_kind = pytest.mark.parametrize("kind", KINDS)


def tokens_of(decoder: Any, length: int) -> list[int]:
    return [(7 * p + 3) % decoder.vocab_size for p in range(length)]


def filled(decoder: Any, length: int) -> Any:
    """A cache of the first ``length`` of `tokens_of`."""
    cache = decoder.new_cache()
    return decoder.extend(tokens_of(decoder, length), cache)[1] if length else cache


@every_kind
@settings(max_examples=25)
@given(seed=seeds, data=data)
def test_any_chunks_give_the_rows_of_the_full_pass(
    kind: str, seed: int, data: st.DataObject
) -> None:
    decoder = CACHES[kind](seed)
    length = data.draw(cs.lengths(max_value=20, window=decoder.window))
    tokens = data.draw(cs.token_ids(decoder.vocab_size, min_size=length, max_size=length))
    expected, cache, past = decoder.full(tokens), decoder.new_cache(), 0
    for chunk in data.draw(cs.chunk_partitions(length)):
        rows, cache = decoder.extend(tokens[past : past + chunk], cache)
        difference = largest(rows, expected[past : past + chunk])
        assert difference <= allowance(decoder, expected)
        past += chunk
    per_layer = 4 if kind == "tied" else 3  # a second query for each pair of layers
    assert decoder.work() == per_layer * decoder.config.layers * length


@every_kind
def test_equal_contents_give_equal_states_whatever_slots_they_lie_in(kind: str) -> None:
    decoder = CACHES[kind](3)
    tokens = tokens_of(decoder, 15)
    at_once = filled(decoder, 15)
    other, cache = filled(decoder, 4), decoder.new_cache()  # a pool then hands out other blocks
    for token in tokens:
        _, cache = decoder.extend([token], cache)
    del other
    for one, two in zip(decoder.state(at_once), decoder.state(cache), strict=True):
        assert list(one) == list(two)
        assert np.array_equal(one["positions"], two["positions"])
        for name in one:  # matrix products of other shapes round otherwise, and so may codes
            nearly = 1 if one[name].dtype == np.int8 else 1e-5
            assert np.allclose(one[name], two[name], rtol=0, atol=nearly)


@every_kind
def test_members_are_offered_as_the_kind_of_cache_needs_them(kind: str) -> None:
    decoder = CACHES[kind](0)
    assert capabilities(decoder).mutates_cache == (kind in IN_PLACE)
    assert hasattr(decoder, "fork") == hasattr(decoder, "reset") == (kind in IN_PLACE)
    counts = kind in ("paged", "prefix")
    assert hasattr(decoder, "release") == hasattr(decoder, "check_invariants") == counts


@pytest.mark.parametrize(("window", "sinks"), [(1, 0), (2, 0), (4, 0), (1, 2), (3, 2)])
@pytest.mark.parametrize("storage", ["copying", "ring"])
def test_a_crop_is_possible_exactly_while_nothing_needed_has_been_evicted(
    storage: str, window: int, sinks: int
) -> None:
    config = Config(window=window, sinks=sinks, layers=1, positions="alibi")
    decoder: Any = ReferenceDecoder(config)
    if storage == "ring":
        decoder = InPlaceDecoder(config, RingStorage)
    tokens = tokens_of(decoder, 10)
    for length in range(10):
        for left in range(length + 1):
            evicted = range(sinks, length - window)  # by a cache of `length` tokens
            needed = [p for p in evicted if left - window < p < left]  # by the row at `left`
            cache = filled(decoder, length)
            before = bytes_of(decoder, cache)
            if needed:
                with pytest.raises(Unsupported, match=f"needs position {needed[0]}, which"):
                    decoder.crop(cache, left)
                assert bytes_of(decoder, cache) == before
                continue
            rows, _ = decoder.extend(tokens[left:], decoder.crop(cache, left))
            assert largest(rows, decoder.full(tokens)[left:]) < 1e-12


@every_kind
@pytest.mark.parametrize("length", [-1, 4, True, 1.0, None])
def test_a_crop_to_no_possible_length_is_refused(kind: str, length: Any) -> None:
    decoder = CACHES[kind](0)
    with pytest.raises(InputError, match="crop to a length from 0 to 3; got"):
        decoder.crop(filled(decoder, 3), length)


@every_kind
def test_refused_calls_leave_the_cache_as_it_was(kind: str) -> None:
    decoder = CACHES[kind](0)
    cache = filled(decoder, 6)
    before = bytes_of(decoder, cache)
    other = CACHES[kind](1)
    refusals: list[Any] = [([], cache), ([0, decoder.vocab_size], cache), ([1], other.new_cache())]
    for tokens, given_cache in [*refusals, ([1], {})]:
        with pytest.raises(InputError):
            decoder.extend(tokens, given_cache)
    assert bytes_of(decoder, cache) == before
    rows, _ = decoder.extend([1], cache)
    expected = decoder.full([*tokens_of(decoder, 6), 1])[-1:]
    assert largest(rows, expected) <= allowance(decoder, expected)


@pytest.mark.parametrize("kind", IN_PLACE)
def test_a_call_that_fails_in_its_last_layer_leaves_the_cache_as_it_was(kind: str) -> None:
    decoder = CACHES[kind](0)
    cache, calls = filled(decoder, 6), [0]

    def blind_in_the_second_layer(*places: Any, **rest: Any) -> Any:
        calls[0] += 1
        mask = offset_mask(*places, **rest)
        return mask & False if calls[0] == 2 else mask

    before = bytes_of(decoder, cache)
    decoder.mechanisms = Mechanisms(blind_in_the_second_layer)
    with pytest.raises(InputError, match="no allowed key"):
        decoder.extend([1, 0], cache)
    assert bytes_of(decoder, cache) == before
    decoder.mechanisms = Mechanisms()
    rows, _ = decoder.extend([1, 0], cache)
    assert largest(rows, decoder.full([*tokens_of(decoder, 6), 1, 0])[6:]) < 1e-12


def test_a_static_cache_refuses_to_overflow_and_stays_usable() -> None:
    decoder = InPlaceDecoder(Config(max_length=5), StaticStorage)
    tokens = tokens_of(decoder, 5)
    _, cache = decoder.extend(tokens[:4], decoder.new_cache())
    before = bytes_of(decoder, cache)
    with pytest.raises(InputError, match="6 tokens exceed max_length 5"):
        decoder.extend([1, 2], cache)
    assert bytes_of(decoder, cache) == before
    rows, _ = decoder.extend(tokens[4:], cache)
    assert largest(rows, decoder.full(tokens)[4:]) < 1e-12


@every_kind
def test_saved_caches_of_others_and_other_things_are_refused(kind: str) -> None:
    decoder = CACHES[kind](0)
    saved = decoder.save(filled(decoder, 5))
    with pytest.raises(InputError, match="saved by another decoder"):
        CACHES[kind](1).load(saved)
    kinds: list[StoredDecoder[Any]] = [
        ReferenceDecoder(Config(max_length=8)),
        InPlaceDecoder(Config(max_length=8), StaticStorage),
    ]
    with pytest.raises(InputError, match="saved by another decoder"):  # the same weights
        kinds[1].load(kinds[0].save(kinds[0].new_cache()))
    for bad in (b"", b"PK", saved[:-30], saved[40:], np.zeros(3).tobytes()):
        with pytest.raises(InputError, match="these bytes are not a saved cache"):
            decoder.load(bad)
    with pytest.raises(InputError, match="expected the bytes that save returned; got str"):
        decoder.load("text")


@every_kind
@settings(max_examples=10)
@given(at=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255))
def test_a_flipped_byte_is_refused_or_changes_nothing(kind: str, at: float, flip: int) -> None:
    decoder = CACHES[kind](2)
    cache = filled(decoder, 5)
    saved = bytearray(decoder.save(cache))
    saved[int(at * len(saved))] ^= flip
    try:
        loaded = decoder.load(bytes(saved))
    except InputError:
        return
    assert bytes_of(decoder, loaded) == bytes_of(decoder, cache)


def test_saved_arrays_that_no_cache_could_hold_are_refused() -> None:
    decoder = ReferenceDecoder(Config(layers=1, window=3))
    _, cache = decoder.extend([1, 2, 3, 4, 5], decoder.new_cache())
    layer = cache.layers[0]
    arrays = {"key": layer.key, "value": layer.value, "positions": layer.positions}

    def saved(length: int = 5, **changed: Any) -> bytes:
        fresh = {name: array.copy() for name, array in (arrays | changed).items()}
        touched = replace(layer, **fresh, length=length)
        return decoder.save(Cache((touched,), length, 5, cache.fingerprint))

    assert bytes_of(decoder, decoder.load(saved())) == bytes_of(decoder, cache)
    with pytest.raises(InputError, match="not finite"):
        decoder.load(saved(key=layer.key * np.inf))
    with pytest.raises(InputError, match=r"0.key should be float64 \(1, 3, 16\)"):
        decoder.load(saved(key=layer.key[..., :4]))
    for positions, length in (([2, 4, 3], 5), ([0, 3, 4], 5), ([2, 3, 4], 6), ([2, 3, 4], -5)):
        with pytest.raises(InputError):
            decoder.load(saved(length, positions=np.array(positions)))
