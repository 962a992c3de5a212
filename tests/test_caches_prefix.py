"""Blocks found by their content: found where tokens are equal, forgotten when they are free."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings

from cachecheck.errors import InputError
from cachecheck.laws import LAWS
from cachecheck.reference.caches import CACHES
from cachecheck.reference.caches.prefix import PrefixCache
from cachecheck.reference.caches.prefix_decoder import PrefixDecoder, prefix
from cachecheck.schedule import Case, Schedule
from cachecheck.target import as_target
from tests.helpers import largest
from tests.test_caches_programs import OPERATIONS, Program, bytes_of, programs, run, seeds

EQUAL = (1, 0, 1, 1, 0)


def filled(decoder: PrefixDecoder, tokens: tuple[int, ...]) -> PrefixCache:
    """A cache of ``tokens``, from one call."""
    _, cache = decoder.extend(tokens, decoder.new_cache())
    assert isinstance(cache, PrefixCache)
    return cache


@settings(max_examples=20)
@given(seed=seeds, program=programs)
def test_programs_of_operations_keep_rows_right_and_branches_apart(
    seed: int, program: Program
) -> None:
    run(prefix(seed), program)


def test_blocks_are_found_in_random_programs() -> None:
    rng, hits = random.Random(0), 0  # noqa: S311 - nothing secret about it
    for seed in range(20):
        decoder = prefix(seed)
        program = [
            (rng.choice(OPERATIONS), rng.randrange(12), rng.randrange(60)) for _ in range(14)
        ]
        run(decoder, program)
        hits += decoder.storage.pool.found_blocks > 0
    assert hits > 10  # of 20


def test_a_new_cache_of_equal_tokens_takes_the_blocks_that_are_there() -> None:
    decoder = prefix(0)  # blocks of two
    schedule = Schedule.parse("5 b=new b:2+2+1 c=new c:5 c:1 b:1 1")
    case = Case((*EQUAL, *EQUAL, *EQUAL, 0, 1, 0), schedule)
    finding = LAWS["programs"].try_on(as_target(lambda _seed: decoder, "prefix").make(0), case)
    assert finding.violation is None
    assert decoder.storage.pool.found_blocks == 5  # two in b, two in c; and one of `1 0` at the end


def test_the_table_refers_to_found_blocks_and_their_content_is_used_as_it_is() -> None:
    decoder = prefix(0)
    first = filled(decoder, EQUAL)
    pool = first.pool
    pool.key[:, first.table[0]] *= 2  # a sign that would not be there after computing anew
    second = filled(decoder, EQUAL)
    assert second.table[:2] == first.table[:2]
    assert second.table[2] != first.table[2]  # partly filled: nobody finds it
    assert [pool.allocator.count(block) for block in first.table] == [2, 2, 1]
    rows, _ = decoder.extend([1], second)
    assert largest(rows, decoder.full([*EQUAL, 1])[-1:]) > 1e-3


def test_a_partly_filled_block_of_ours_gives_way_to_the_one_that_is_found() -> None:
    decoder = prefix(0)
    first = filled(decoder, (1, 0))
    second = filled(decoder, (1,))
    assert second.table != first.table
    rows, _ = decoder.extend([0], second)
    assert second.table == first.table
    assert largest(rows, decoder.full([1, 0])[-1:]) < 1e-12
    decoder.check_invariants([first, second])


def test_other_tokens_before_a_block_keep_it_from_being_found() -> None:
    decoder = prefix(0)
    first, second = filled(decoder, (1, 0, 1, 1)), filled(decoder, (0, 0, 1, 1))
    assert not set(first.table) & set(second.table)
    assert decoder.storage.pool.found_blocks == 0


def test_a_block_is_found_until_its_last_reference_goes() -> None:
    decoder = prefix(0)
    first, second = filled(decoder, (1, 0)), filled(decoder, (1, 0))
    allocator = decoder.storage.pool.allocator
    decoder.release(first)
    assert list(allocator.published.values()) == second.table
    decoder.reset(second)
    assert not allocator.published
    decoder.check_invariants([second])


def test_a_block_that_is_written_again_after_a_crop_is_no_longer_found_by_its_old_tokens() -> None:
    decoder = prefix(0)
    cache = decoder.crop(filled(decoder, (1, 0)), 1)
    assert filled(decoder, (1, 0)).table == cache.table  # it is still whole
    decoder.extend([1], cache)
    other = filled(decoder, (1, 0))
    assert other.table != cache.table
    assert largest(decoder.extend([1], other)[0], decoder.full([1, 0, 1])[-1:]) < 1e-12


def test_a_saved_cache_is_loaded_into_blocks_that_are_there() -> None:
    decoder = prefix(0)
    cache = filled(decoder, EQUAL)
    loaded = decoder.load(decoder.save(cache))
    assert loaded.table[:2] == cache.table[:2]
    assert bytes_of(decoder, loaded) == bytes_of(decoder, cache)
    assert decoder.state(loaded)[0]["tokens"].tolist() == list(EQUAL)
    decoder.check_invariants([cache, loaded])


def test_a_free_block_that_is_still_found_breaks_the_invariants() -> None:
    decoder = prefix(0)
    cache = filled(decoder, (1, 0))
    stale = dict(cache.pool.allocator.published)
    decoder.release(cache)
    decoder.check_invariants([])
    cache.pool.allocator.published = stale
    with pytest.raises(AssertionError, match="block 0 is free, and still found under its key"):
        decoder.check_invariants([])


def test_refused_calls_leave_the_cache_and_what_is_found_as_they_were() -> None:
    decoder = prefix(0)
    cache = filled(decoder, (1, 0, 1))
    before = bytes_of(decoder, cache)
    for tokens in ([], [0, 2]):
        with pytest.raises(InputError):
            decoder.extend(tokens, cache)
    with pytest.raises(InputError, match="in the pool of another decoder"):
        prefix(0).extend([1], cache)
    assert bytes_of(decoder, cache) == before
    decoder.check_invariants([cache])
    rows, _ = decoder.extend([0], cache)
    assert largest(rows, decoder.full([1, 0, 1, 0])[-1:]) < 1e-12


def test_configurations_are_over_two_tokens_and_seed_0_is_plain() -> None:
    decoders = [CACHES["prefix"](seed) for seed in range(12)]
    assert {decoder.vocab_size for decoder in decoders} == {2}
    assert {decoder.storage.pool.block_size for decoder in decoders} == {2, 3}
    assert decoders[0].window is None
    assert prefix(1, "float32").dtype == "float32"
