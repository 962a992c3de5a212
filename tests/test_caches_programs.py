"""Programs of operations on several caches of one decoder: rows stay right, branches stay apart."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cachecheck.errors import InputError, Unsupported
from cachecheck.reference.caches import CACHES
from cachecheck.reference.caches.paged import PagedCache
from cachecheck.reference.caches.ring import RingLayer
from cachecheck.reference.caches.shared import GrowingBuffer
from tests.helpers import TOLERANCE, largest

KINDS = (
    *("copying", "shared", "static", "ring", "sinks", "paged", "quantised"),
    *("prefix", "tied"),
)
OPERATIONS = ("extend", "extend", "fork", "crop", "save", "reset", "release")
LONGEST = 20  # tokens in a cache, so that programs stay quick
MOST = 4  # caches at once

Program = list[tuple[str, int, int]]
programs = st.lists(
    st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 11), st.integers(0, 59)), max_size=14
)
"""An operation, the number of the cache it is for, and a number that says the rest."""
seeds = st.integers(0, 40)


@dataclass(eq=False)
class Held:
    """A live cache and the tokens that should be in it."""

    cache: Any
    tokens: list[int]


def allowance(decoder: Any, rows: Any) -> float:
    """How far rows of ``decoder`` may be from the full pass."""
    if hasattr(decoder, "atol"):
        return float(decoder.atol)
    unit = TOLERANCE if decoder.dtype == "float64" else 3e-5
    return unit * max(1.0, float(abs(rows).max()))


def bytes_of(decoder: Any, cache: Any) -> list[tuple[str, bytes]]:
    """Every byte of a cache's state, in order."""
    layers = decoder.state(cache)
    return [(name, array.tobytes()) for layer in layers for name, array in layer.items()]


def advance(decoder: Any, held: Held, tokens: list[int]) -> None:
    """Extend ``held`` and compare the rows with the full pass."""
    rows, held.cache = decoder.extend(tokens, held.cache)
    held.tokens = held.tokens + tokens
    expected = decoder.full(held.tokens)[-len(tokens) :]
    assert largest(rows, expected) <= allowance(decoder, expected)


def crop(decoder: Any, held: Held, length: int) -> None:
    """Crop ``held``, or see that a refusal left it as it was."""
    before = bytes_of(decoder, held.cache)
    try:
        held.cache = decoder.crop(held.cache, length)
    except Unsupported:
        assert bytes_of(decoder, held.cache) == before
        assert decoder.window is not None
    else:
        held.tokens = held.tokens[:length]


def step(decoder: Any, live: list[Held], held: Held, operation: str, number: int) -> None:
    """Do one operation of a program; one that the kind does not offer is passed over."""
    if operation == "extend":
        count = min(1 + number % 7, LONGEST - len(held.tokens))
        if count > 0:
            chunk = [(number * 5 + 3 * j) % decoder.vocab_size for j in range(count)]
            advance(decoder, held, chunk)
    elif operation == "fork" and len(live) < MOST:
        copy = decoder.fork(held.cache) if decoder.mutates_cache else held.cache
        live.append(Held(copy, held.tokens))
    elif operation == "crop":
        crop(decoder, held, number % (len(held.tokens) + 1))
    elif operation == "save":
        loaded = decoder.load(decoder.save(held.cache))
        assert bytes_of(decoder, loaded) == bytes_of(decoder, held.cache)
        if hasattr(decoder, "release"):
            decoder.release(held.cache)
        held.cache = loaded
    elif operation == "reset" and hasattr(decoder, "reset"):
        held.cache, held.tokens = decoder.reset(held.cache), []
    elif operation == "release" and hasattr(decoder, "release") and len(live) > 1:
        live.remove(held)
        decoder.release(held.cache)


def run(decoder: Any, program: Program) -> list[Held]:
    """Run a program; what an operation was not for must not change, and the accounts must agree."""
    live = [Held(decoder.new_cache(), [])]
    returned: list[tuple[Any, list[tuple[str, bytes]]]] = []  # by a kind that never mutates
    for operation, which, number in program:
        held = live[which % len(live)]
        others = [(one.cache, bytes_of(decoder, one.cache)) for one in live if one is not held]
        if not decoder.mutates_cache:
            returned.append((held.cache, bytes_of(decoder, held.cache)))
            others = returned
        step(decoder, live, held, operation, number)
        kept = {id(one.cache) for one in live} if decoder.mutates_cache else None
        for cache, before in others:
            if kept is None or id(cache) in kept:
                assert bytes_of(decoder, cache) == before
        if hasattr(decoder, "check_invariants"):
            decoder.check_invariants([one.cache for one in live])
    for held in live:
        advance(decoder, held, [1, 0])
    return live


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20)
@given(seed=seeds, program=programs)
def test_programs_of_operations_keep_rows_right_and_branches_apart(
    kind: str, seed: int, program: Program
) -> None:
    run(CACHES[kind](seed), program)


def program_breaks(kind: str) -> None:
    """Some random program must fail, now that the test has broken something."""
    rng = random.Random(0)  # noqa: S311 - long programs from the start, quicker than `find`
    for _ in range(100):
        program = [
            (rng.choice(OPERATIONS), rng.randrange(12), rng.randrange(60)) for _ in range(14)
        ]
        try:
            run(CACHES[kind](0), program)
        except (AssertionError, InputError):
            return
    pytest.fail("no program noticed")


def test_a_pool_without_copy_on_write_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "cachecheck.reference.caches.paged.BlockPool.writable_block", lambda _, block: block
    )
    program_breaks("paged")


def test_a_fork_that_counts_no_references_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def fork(cache: PagedCache) -> PagedCache:
        return PagedCache(cache.pool, cache.fingerprint, cache.length, 0, list(cache.table))

    monkeypatch.setattr(PagedCache, "fork", fork)
    program_breaks("paged")


def test_a_branch_that_writes_over_its_sibling_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def branch(buffer: GrowingBuffer, length: int) -> GrowingBuffer:
        buffer.used = length
        return buffer

    monkeypatch.setattr(GrowingBuffer, "branch", branch)
    program_breaks("shared")


def test_a_ring_that_forgets_to_crop_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(layer: RingLayer, length: int) -> None:
        layer.length = length

    monkeypatch.setattr(RingLayer, "crop", forgetful)
    program_breaks("sinks")
