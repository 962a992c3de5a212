"""The offset mask allows what it must, forbids what it must; each wrong mask is wrong its way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cachecheck import strategies as cs
from cachecheck.errors import InputError
from cachecheck.reference import WRONG_MASKS, attention, offset_mask
from cachecheck.reference.full import triangle
from cachecheck.strategies import AttentionProblem, WrongMaskProblem
from tests.helpers import TOLERANCE, largest

any_window = st.none() | cs.windows()


@given(st.integers(0, 12), st.integers(1, 8), any_window, st.integers(0, 3))
def test_the_offset_mask_allows_and_forbids_key_by_key(
    past: int, chunk: int, window: int | None, sinks: int
) -> None:
    query, key = past + np.arange(chunk), np.arange(past + chunk)
    mask = offset_mask(query, key, window=window, sinks=sinks)
    assert mask.shape == (chunk, past + chunk)
    for row, q in enumerate(query):
        for column, k in enumerate(key):
            later = k > q
            evicted = window is not None and q - k >= window and k >= sinks
            assert mask[row, column] == (not later and not evicted)


@given(st.integers(1, 20), st.integers(0, 9), any_window, st.integers(0, 3))
def test_the_full_pass_triangle_and_the_offset_mask_agree(
    length: int, first: int, window: int | None, sinks: int
) -> None:
    positions = first + np.arange(length)
    expected = offset_mask(positions, positions, window=window, sinks=sinks)
    assert np.array_equal(triangle(length, first, window, sinks), expected)


def test_a_published_chunk_sees_its_history_and_itself() -> None:
    mask = offset_mask([5, 6, 7], range(8), window=4).astype(int)
    assert mask.tolist() == [
        [0, 0, 1, 1, 1, 1, 0, 0],
        [0, 0, 0, 1, 1, 1, 1, 0],
        [0, 0, 0, 0, 1, 1, 1, 1],
    ]


WRONG_AT_2_PLUS_3 = {
    "query-restart": ["10000", "11000", "11100"],
    "offset-too-small": ["11000", "11100", "11110"],
    "offset-too-large": ["11110", "11111", "11111"],
    "no-chunk-mask": ["11111", "11111", "11111"],
    "one-position": ["11100", "11100", "11100"],
    "last-chunk-offset": ["11000", "11100", "11110"],
    "window-from-last-row": ["00100", "00110", "00111"],
}


@pytest.mark.parametrize("name", WRONG_MASKS)
def test_each_wrong_mask_takes_its_own_short_cut(name: str) -> None:
    window = 3 if name == "window-from-last-row" else None
    rule = WRONG_MASKS[name].rule
    mask = rule(np.array([2, 3, 4]), np.arange(5), window=window, sinks=0, last_chunk=1)
    assert ["".join(map(str, row)) for row in mask.astype(int)] == WRONG_AT_2_PLUS_3[name]


@given(cs.wrong_offset_masks())
def test_a_wrong_mask_is_seen_wherever_it_is_wrong_and_nowhere_else(
    spoilt: WrongMaskProblem,
) -> None:
    problem = spoilt.problem
    right = problem.attend()
    if not spoilt.mask.any(axis=1).all():
        with pytest.raises(InputError, match="has no allowed key"):
            problem.attend(spoilt.mask)
        assert spoilt.differs
        return
    wrong = problem.attend(spoilt.mask)
    moved = np.abs(wrong - right).max(axis=(0, 2))  # (T,)
    rows_differ = (spoilt.mask != problem.mask).any(axis=1)  # (T,)
    assert np.all(moved[rows_differ] > TOLERANCE)
    assert np.all(moved[~rows_differ] == 0)


@pytest.mark.parametrize("name", WRONG_MASKS)
def test_where_a_wrong_mask_is_right(name: str) -> None:
    """A first chunk or a single token hides some faults: which ones is part of their definition."""
    rule = WRONG_MASKS[name].rule

    def wrong(past: int, chunk: int, window: int | None, last_chunk: int) -> bool:
        query, key = past + np.arange(chunk), np.arange(past + chunk)
        right = offset_mask(query, key, window=window)
        spoilt = rule(query, key, window=window, sinks=0, last_chunk=last_chunk)
        return not np.array_equal(right, spoilt)

    window = 3 if name == "window-from-last-row" else None
    cases = {"first chunk": (0, 4), "one token": (4, 1), "chunk onto history": (4, 4)}
    seen = {case for case, (past, chunk) in cases.items() if wrong(past, chunk, window, past // 2)}
    assert (
        seen
        == {
            "query-restart": {"one token", "chunk onto history"},
            "offset-too-small": {"one token", "chunk onto history"},
            "offset-too-large": {"first chunk", "chunk onto history"},
            "no-chunk-mask": {"first chunk", "chunk onto history"},
            "one-position": {"first chunk", "chunk onto history"},
            "last-chunk-offset": {"one token", "chunk onto history"},
            "window-from-last-row": {"first chunk", "chunk onto history"},
        }[name]
    )


@given(cs.offset_masks(windows=any_window))
def test_attention_equals_a_softmax_over_the_allowed_keys_alone(problem: AttentionProblem) -> None:
    rows = problem.attend()
    group = len(problem.query) // len(problem.key)
    for head, queries in enumerate(problem.query):
        keys, values = problem.key[head // group], problem.value[head // group]
        for row, query in enumerate(queries):
            seen = problem.mask[row]
            scores = keys[seen] @ query / np.sqrt(len(query))
            share = np.exp(scores - scores.max())
            expected = share @ values[seen] / share.sum()
            assert largest(rows[head, row], expected) < TOLERANCE


@given(cs.offset_masks())
def test_keys_that_no_row_may_see_have_no_influence_at_all(problem: AttentionProblem) -> None:
    hidden = ~problem.mask[0]  # the keys after the first row's own
    assume(hidden.any())
    value = problem.value.copy()
    value[:, hidden] = 1e300
    rows = problem._replace(value=value).attend(problem.mask[:1].repeat(len(problem.mask), axis=0))
    assert np.array_equal(rows[:, 0], problem.attend()[:, 0])


def test_a_row_without_any_key_is_an_error_and_never_nan() -> None:
    ones = np.ones((1, 2, 4))
    mask = np.array([[True, False], [False, False]])
    with pytest.raises(InputError, match="query row 1 has no allowed key among 2"):
        attention(ones, ones, ones, mask)


@pytest.mark.parametrize(
    ("query", "key", "options", "said"),
    [
        ([1, 3], range(4), {}, "query positions must be consecutive; 1 is followed by 3"),
        ([], range(4), {}, "query positions must not be empty"),
        ([0.5], range(4), {}, "query positions must be integers"),
        ([0], [1, 0], {}, "key positions must be >= 0 and strictly increasing"),
        ([0], [-1, 0], {}, "key positions must be >= 0"),
        ([0], [], {}, "key positions must not be empty"),
        ([0], [0], {"window": 0}, "a window must be at least 1"),
        ([0], [0], {"window": -2}, "a window must be at least 1"),
        ([0], [0], {"sinks": -1}, "sinks must be >= 0"),
    ],
)
def test_bad_positions_and_windows_are_refused(
    query: Any, key: Any, options: dict[str, int], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        offset_mask(query, list(key), **options)
