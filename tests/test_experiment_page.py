"""The run's arrays against a second decoder, written from the page alone.

Run with: pytest tests/test_experiment_page.py. The second decoder has no cache: each cached
step is one pass whose mask and input positions say what the cache would have held, so the two
share neither code nor idea.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cachecheck.experiment import protocol
from cachecheck.experiment.measure import MODEL, measure
from cachecheck.reference import FROZEN

Array = NDArray[Any]
SEEDS = (7, 19, 41)
TOKENS = np.array([(7 * i + 3) % 32 for i in range(24)])
CHANGED = np.array([t if i < 12 else (t + 1) % 32 for i, t in enumerate(TOKENS)])
ALL = np.arange(24)


def rows(seed: int, tokens: Array, positions: Array, allowed: Array) -> tuple[Array, Array]:
    """Last layer's rows (T, 16) and first layer's probabilities (T, T)."""
    rng = np.random.default_rng(seed)
    embedding = rng.normal(0, 0.3, (32, 16))
    x = embedding[tokens]
    for column in range(8):
        angle = positions / 10000 ** (2 * column / 16)
        x[:, 2 * column] += np.sin(angle)
        x[:, 2 * column + 1] += np.cos(angle)
    kept = []
    for _ in range(2):
        query, key, value = (x @ rng.normal(0, 0.25, (16, 16)) for _ in range(3))
        scores = np.where(allowed, query @ key.T / 4.0, -np.inf)
        weighted = np.exp(scores - scores.max(axis=1, keepdims=True))
        probabilities = weighted / weighted.sum(axis=1, keepdims=True)
        kept.append(probabilities)
        x = np.tanh(x + probabilities @ value)
    return x, kept[0]


def mask(queries: Array, keys: Array, window: int = 99) -> Array:
    q, k = queries[:, None], keys[None, :]
    return np.logical_and(k <= q, k > q - window)


def cropped(seed: int, last: int) -> Array:
    places = np.arange(max(0, last - 3), last + 1)
    only, _ = rows(seed, TOKENS[places], places, mask(places, places, 4))
    return np.asarray(only[-1])


def from_the_page(seed: int) -> dict[str, Array]:
    full, attention = rows(seed, TOKENS, ALL, mask(ALL, ALL))
    free = np.ones((24, 24), bool)
    eight = ALL[:8]
    restarted = np.array([0, 1, 2, 3, 4, 0, 1, 2])
    sliding = rows(seed, TOKENS, ALL, mask(ALL, ALL, 4))[0]
    return {
        "tokens": TOKENS,
        "full": full,
        "attention": attention,
        "masked": rows(seed, CHANGED, ALL, mask(ALL, ALL))[0],
        "unmasked": rows(seed, TOKENS, ALL, free)[0],
        "perturbed_unmasked": rows(seed, CHANGED, ALL, free)[0],
        "prefix": full,
        "cached": full,
        "cache_bytes": np.array([(t, 2 * 2 * t * 16 * 8) for t in range(1, 25)]),
        "chunked": full,
        "good": full[5:8],
        "wrong": rows(seed, TOKENS[:8], eight, mask(restarted, eight))[0][5:],
        "sliding": sliding,
        "sliding_cached": sliding,
        "reset": rows(seed, TOKENS, 0 * ALL, mask(ALL, ALL, 4))[0],
        "cropped": np.stack([cropped(seed, last) for last in range(24)]),
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_every_array_is_what_a_second_decoder_written_from_the_page_gives(seed: int) -> None:
    arrays, _ = measure(seed)
    expected = from_the_page(seed)
    assert arrays.keys() == expected.keys() == protocol.ARRAYS.keys()
    for name, array in arrays.items():
        assert (str(array.dtype), array.shape) == protocol.ARRAYS[name], name
        np.testing.assert_allclose(array, expected[name], rtol=0, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("seed", SEEDS)
def test_counts_made_by_the_working_code_are_the_published_ones(seed: int) -> None:
    _, counts = measure(seed)
    assert counts == {
        "prefix_projected_rows": 1800,
        "cached_projected_rows": 144,
        "prefix_score_elements": 9800,
        "cached_score_elements": 600,
        "full_kv_bytes": 12288,
        "window_kv_bytes": 2048,
    }
    assert counts == dict(protocol.COUNTS)


def test_the_protocol_describes_the_frozen_decoder() -> None:
    assert MODEL == FROZEN
    assert protocol.token_ids().tolist() == TOKENS.tolist()
    assert protocol.changed_token_ids().tolist() == CHANGED.tolist()
    assert protocol.SEEDS == SEEDS
