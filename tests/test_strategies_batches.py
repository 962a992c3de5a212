"""Ragged batches: padded as they say, reaching their corners, shrinking to a pinned minimum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

from cachecheck import strategies as cs
from cachecheck.strategies import RaggedBatch
from tests.helpers import minimal
from tests.test_strategies import sample


def sizes(batch: RaggedBatch) -> list[tuple[int, int]]:
    return [(problem.past, len(problem.query_positions)) for problem in batch.problems]


@given(cs.ragged_batches(windows=st.none() | cs.windows(), dtype="float32"))
def test_batches_hold_their_problems_and_pads_elsewhere(batch: RaggedBatch) -> None:
    count, heads, chunk, width = batch.query.shape
    groups, length = batch.key.shape[1:3]
    assert batch.value.shape == batch.key.shape == (count, groups, length, width)
    assert heads % groups == 0
    assert batch.query.dtype == batch.key.dtype == np.float32
    assert chunk == max(new for _, new in sizes(batch))
    assert length == max(past + new for past, new in sizes(batch))
    assert len({problem.window for problem in batch.problems}) == 1
    rows = zip(batch.problems, batch.real(batch.query), strict=True)
    assert all(np.array_equal(problem.query, real) for problem, real in rows)
    for problem, key, padding in zip(batch.problems, batch.key, batch.key_padding, strict=True):
        assert np.array_equal(key[:, ~padding], problem.key)
    assert not batch.mask[np.broadcast_to(batch.key_padding[:, None, None], batch.mask.shape)].any()
    assert np.array_equal(batch.mask.any(axis=(1, 3)), ~batch.query_padding)
    assert len(repr(batch)) < 140


@given(cs.ragged_batches(windows=st.none() | cs.windows()))
def test_padding_stands_on_its_side(batch: RaggedBatch) -> None:
    for padding in (*batch.query_padding, *batch.key_padding):
        real = padding[::-1] if batch.side == "left" else padding
        assert list(real) == sorted(real)


@given(cs.ragged_batches(windows=st.none() | cs.windows()))
def test_the_masked_batch_gives_the_rows_of_each_problem(batch: RaggedBatch) -> None:
    times = batch.query.shape[1] // batch.key.shape[1]
    key, value = batch.key.repeat(times, axis=1), batch.value.repeat(times, axis=1)
    scores = batch.query @ key.swapaxes(2, 3) / np.sqrt(batch.query.shape[3])
    weights = np.where(batch.mask, np.exp(scores), 0)
    total = np.maximum(weights.sum(axis=3, keepdims=True), 1e-300)
    for got, due in zip(batch.real(weights @ value / total), batch.attend(), strict=True):
        assert np.abs(got - due).max() < 1e-12


def test_most_batches_are_ragged_and_every_corner_comes_up() -> None:
    drawn = sample(cs.ragged_batches(windows=st.none() | cs.windows()), 300)
    pasts = [[past for past, _ in sizes(batch)] for batch in drawn]
    ragged = [len(set(some)) > 1 for some in pasts]
    assert np.mean(ragged) > 0.4
    assert np.mean([batch.query_padding.any() for batch in drawn]) > 0.3
    assert any(0 in some and max(some) > 0 for some in pasts)  # a new row beside an old one
    assert {batch.side for batch in drawn} == {"right", "left"}
    assert {len(batch.problems) for batch in drawn} == {1, 2, 3}
    assert {batch.query.shape[1] for batch in drawn} == {1, 2, 4}
    assert {batch.problems[0].window is None for batch in drawn} == {True, False}


MINIMA: dict[str, tuple[Callable[[RaggedBatch], Any], list[tuple[int, int]]]] = {
    "anything": (lambda batch: True, [(0, 1)]),
    "two rows": (lambda batch: len(batch.problems) == 2, [(0, 1), (0, 1)]),
    "padded queries": (lambda batch: batch.query_padding.any(), [(0, 1), (0, 2)]),
    "padded keys of equal chunks": (
        lambda batch: batch.key_padding.any() and not batch.query_padding.any(),
        [(0, 1), (1, 1)],
    ),
}


@pytest.mark.parametrize("name", MINIMA)
def test_shrinking_ends_at_the_documented_minimum(name: str) -> None:
    condition, expected = MINIMA[name]
    batch = minimal(cs.ragged_batches(windows=st.none() | cs.windows()), condition)
    assert sizes(batch) == expected
    assert (batch.side, batch.problems[0].window) == ("right", None)
    assert batch.query.shape[1] == batch.key.shape[1] == 1


@pytest.mark.parametrize(
    "define",
    [
        lambda: cs.ragged_batches(max_rows=0),
        lambda: cs.ragged_batches(max_past=-1),
        lambda: cs.ragged_batches(max_chunk=0),
        lambda: cs.ragged_batches(head_width=1.5),  # type: ignore[arg-type]
        lambda: cs.ragged_batches(sides=[]),
        lambda: cs.ragged_batches(sides=["middle"]),
        lambda: cs.ragged_batches(dtype="float16"),
    ],
)
def test_impossible_arguments_are_refused_where_the_strategy_is_defined(
    define: Callable[[], object],
) -> None:
    with pytest.raises(InvalidArgument):
        define()
