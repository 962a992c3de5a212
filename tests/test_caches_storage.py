"""What is peculiar to one kind: blocks and their accounts, shared buffers, codes of 8 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cachecheck import strategies as cs
from cachecheck.errors import InputError
from cachecheck.reference import WRONG_MASKS, Config, Mechanisms
from cachecheck.reference.caches.allocator import BlockAllocator
from cachecheck.reference.caches.error_bound import row_error_bound
from cachecheck.reference.caches.paged_decoder import PagedDecoder, paged
from cachecheck.reference.caches.quantised import QuantisedDecoder, quantise, quantised
from cachecheck.reference.caches.ring import ring
from cachecheck.reference.caches.shared import SharedDecoder, SharedStorage, shared
from cachecheck.reference.weights import draw_weights
from tests.helpers import largest
from tests.test_caches_programs import MOST, Program, programs, run, seeds

data = st.data()
SMALL = Config(layers=1, width=4, head_width=4, vocab_size=5)


@settings(max_examples=20)
@given(seeds, programs)
def test_no_block_leaks_once_every_cache_is_released(seed: int, program: Program) -> None:
    decoder = paged(seed)
    live = run(decoder, program)
    assert len(live) <= MOST
    for held in live:
        decoder.release(held.cache)
    decoder.check_invariants([])
    assert decoder.storage.pool.allocator.used() == 0


def test_a_block_is_copied_only_where_it_is_shared_and_partly_filled() -> None:
    decoder = PagedDecoder(SMALL, block_size=2)
    pool = decoder.storage.pool
    _, trunk = decoder.extend([1, 2, 3], decoder.new_cache())  # one block full, one half full
    _, trunk = decoder.extend([4], trunk)
    assert pool.copied_blocks == 0  # nobody shares it
    branch = decoder.fork(trunk)
    assert pool.allocator.used() == 2
    _, branch = decoder.extend([1], branch)
    assert (pool.copied_blocks, pool.allocator.used()) == (0, 3)  # its blocks were full
    twig = decoder.fork(branch)
    _, twig = decoder.extend([2], twig)
    assert (pool.copied_blocks, pool.allocator.used()) == (1, 4)
    assert twig.table[:2] == branch.table[:2] == trunk.table
    _, branch = decoder.extend([3], branch)
    assert pool.copied_blocks == 1  # the last reference writes in place
    decoder.check_invariants([trunk, branch, twig])


def test_a_released_cache_and_one_of_another_pool_are_refused() -> None:
    decoder, other = paged(0), paged(0)
    _, cache = decoder.extend([1, 2, 3], decoder.new_cache())
    with pytest.raises(InputError, match="in the pool of another decoder"):
        other.extend([4], cache)
    decoder.release(cache)
    for refused in (decoder.release, decoder.fork, decoder.reset):
        with pytest.raises(InputError, match="this cache was released"):
            refused(cache)


def test_an_allocator_refuses_to_free_or_share_what_is_free() -> None:
    allocator = BlockAllocator(1)
    first, second = allocator.allocate(), allocator.allocate()
    assert (allocator.capacity, first, second) == (2, 0, 1)
    allocator.share(first)
    allocator.release(first)
    allocator.release(first)
    with pytest.raises(RuntimeError, match="block 0 is free already"):
        allocator.release(first)
    with pytest.raises(RuntimeError, match="block 0 is free; only a used block"):
        allocator.share(first)
    with pytest.raises(RuntimeError, match="there is no block 2"):
        allocator.release(2)
    assert allocator.used() == 1


def test_every_wrong_account_is_named() -> None:
    decoder = PagedDecoder(SMALL, block_size=2)
    allocator = decoder.storage.pool.allocator
    _, cache = decoder.extend([1, 2, 3], decoder.new_cache())
    with pytest.raises(AssertionError, match="block 0 leaks: count 1, in no block table"):
        decoder.check_invariants([])
    with pytest.raises(AssertionError, match="block 0 has count 1, is in 2 tables"):
        decoder.check_invariants([cache, cache])
    allocator._free.append(cache.table[0])
    with pytest.raises(AssertionError, match="block 0 is both free and in 1 block tables"):
        decoder.check_invariants([cache])
    allocator._free.pop()
    lost = allocator._free.pop()
    with pytest.raises(AssertionError, match=f"block {lost} leaks: count 0, but not free"):
        decoder.check_invariants([cache])
    allocator._free += [lost, lost]
    with pytest.raises(AssertionError, match="in the list of free blocks twice"):
        decoder.check_invariants([cache])
    allocator._free.pop()
    block = cache.table.pop()
    with pytest.raises(AssertionError, match="a cache of 3 tokens has 1 blocks, not 2"):
        decoder.check_invariants([cache])
    cache.table.append(99)
    with pytest.raises(AssertionError, match="a block table names block 99 of 4"):
        decoder.check_invariants([cache])
    cache.table[-1] = block
    decoder.check_invariants([cache])


@pytest.mark.parametrize("chunk", [1, 3])
def test_appending_at_the_tip_copies_an_amortised_constant(chunk: int) -> None:
    decoder = SharedDecoder(SMALL, SharedStorage, seed=0)
    cache = decoder.new_cache()
    for calls in range(1, 101):
        _, cache = decoder.extend([calls % 5] * chunk, cache)
        assert decoder.copied() <= 2 * calls * chunk  # doubling: 1 + 1/2 + 1/4 + ... < 2


def test_a_branch_copies_its_prefix_once_and_only_if_a_sibling_took_the_tip() -> None:
    decoder = shared(0)
    layers = decoder.config.layers
    _, trunk = decoder.extend([1, 2, 3], decoder.new_cache())
    before = decoder.copied()
    rows, left = decoder.extend([4], trunk)
    assert decoder.copied() == before
    assert left.layers[0].buffer is trunk.layers[0].buffer
    _, right = decoder.extend([5], trunk)
    assert decoder.copied() == before + 3 * layers
    assert right.layers[0].buffer is not trunk.layers[0].buffer
    _, again = decoder.extend([6], decoder.crop(left, 3))
    assert decoder.copied() == before + 2 * 3 * layers
    for cache, last in ((left, 4), (right, 5), (again, 6)):
        expected = decoder.full([1, 2, 3, last, 7])[4:]
        assert largest(decoder.extend([7], cache)[0], expected) < 1e-12
    assert largest(rows, decoder.full([1, 2, 3, 4])[3:]) < 1e-12


def test_a_ring_holds_no_more_than_its_window_and_overwrites_in_place() -> None:
    decoder = ring(0)
    _, cache = decoder.extend(list(range(11)), decoder.new_cache())  # longer than the window of 4
    slots = cache.layers[0].key
    assert cache.layers[0].slot_positions.tolist() == [8, 9, 10, 7]
    _, cache = decoder.extend([1, 2], cache)
    assert cache.layers[0].key is slots
    assert cache.layers[0].slot_positions.tolist() == [12, 9, 10, 11]
    assert decoder.state(cache)[0]["positions"].tolist() == [9, 10, 11, 12]


@settings(max_examples=30)
@given(seeds, data)
def test_quantised_rows_do_not_depend_on_the_cuts(seed: int, data: st.DataObject) -> None:
    decoder = quantised(seed)
    length = data.draw(cs.lengths(max_value=20, window=decoder.window))
    tokens = data.draw(cs.token_ids(decoder.vocab_size, min_size=length, max_size=length))
    at_once, _ = decoder.extend(tokens, decoder.new_cache())
    cache, past = decoder.new_cache(), 0
    for chunk in data.draw(cs.chunk_partitions(length)):
        rows, cache = decoder.extend(tokens[past : past + chunk], cache)
        assert largest(rows, at_once[past : past + chunk]) < 1e-12
        past += chunk


@given(st.lists(st.floats(-1e3, 1e3), min_size=4, max_size=4))
def test_codes_are_within_half_a_step(entries: list[float]) -> None:
    array = np.array(entries).reshape(1, 1, 4)
    codes, scale = quantise(array)
    error = np.abs(codes * scale[..., None] - array).max()
    assert error <= np.abs(array).max() / 254 * (1 + 1e-9) + 1e-300  # subnormals


@pytest.mark.parametrize("name", sorted(set(WRONG_MASKS) - {"window-from-last-row"}))
def test_a_wrong_mask_shows_beyond_the_bound_of_quantisation(name: str) -> None:
    for seed in range(5):
        decoder = quantised(seed)
        decoder.mechanisms = Mechanisms(WRONG_MASKS[name].rule)
        tokens = [7 * p % decoder.vocab_size for p in range(12)]
        cache, rows = decoder.new_cache(), []
        try:
            for start in range(0, 12, 3):
                chunk, cache = decoder.extend(tokens[start : start + 3], cache)
                rows.append(chunk)
        except InputError:  # a row that sees nothing: found out as well
            continue
        assert largest(np.concatenate(rows), decoder.full(tokens)) > decoder.atol


@pytest.mark.parametrize("changes", [{"layers": 2}, {"normalise": True}, {"mlp_width": 4}])
def test_a_configuration_outside_the_bound_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="the bound needs one layer"):
        row_error_bound(draw_weights(Config(**({"layers": 1, "max_length": 8} | changes)), 0))
    assert 0 < QuantisedDecoder(Config(layers=1, max_length=8)).atol < 0.2
