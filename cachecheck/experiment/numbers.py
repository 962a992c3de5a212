"""Checks of the numbers: everything reported, recomputed from arrays and closed forms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from cachecheck.experiment.folder import ARRAYS_FILE, RESULTS_FILE
from cachecheck.experiment.problem import Problem
from cachecheck.experiment.protocol import (
    BYTES_A_TOKEN,
    CHANGED_FROM,
    CONTROL,
    COUNTS,
    ERRORS,
    LENGTH,
    PUBLISHED_WRONG_MASK,
    ROW_ARRAYS,
    SEEDS,
    TOLERANCE,
    WINDOW,
    WRONG_MASK_CHUNK,
    WRONG_MASK_PAST,
    Array,
    array_name,
    largest_difference,
    token_ids,
)

Arrays = Mapping[str, Array]
"""Arrays of the right shape and dtype, by name in the archive; bad ones are left out."""

_CHUNK = slice(WRONG_MASK_PAST, WRONG_MASK_PAST + WRONG_MASK_CHUNK)
MUST_AGREE = (
    ("good", slice(None), "full", _CHUNK, "a correct chunk gives rows of the full pass"),
    ("sliding", slice(WINDOW), "full", slice(WINDOW), "nothing lies before the window yet"),
    ("cropped", slice(WINDOW), "sliding", slice(WINDOW), "nothing has been cropped yet"),
    ("reset", slice(1), "sliding", slice(1), "the first token's position is 0 anyway"),
)
"""Rows that must agree within the tolerance although no reported error compares them."""


def recomputed_errors(arrays: Arrays) -> Iterator[tuple[int, str, float]]:
    """(seed, key, error) for each error both of whose arrays are usable."""
    for seed in SEEDS:
        for key, difference in ERRORS.items():
            names = {array_name(seed, difference.left), array_name(seed, difference.right)}
            if names <= arrays.keys():
                yield seed, key, largest_difference(arrays, seed, difference)


def check_inputs(arrays: Arrays) -> Iterator[Problem]:
    """Check tokens, attention probabilities and payloads after each token."""
    lengths = np.arange(1, LENGTH + 1)
    payloads = np.column_stack([lengths, lengths * BYTES_A_TOKEN])  # (24, 2)
    for seed in SEEDS:
        tokens, where = _get(arrays, seed, "tokens")
        if tokens is not None and not np.array_equal(tokens, token_ids()):
            yield Problem("tokens", where, f"expected {token_ids().tolist()}")
        cache_bytes, where = _get(arrays, seed, "cache_bytes")
        if cache_bytes is not None and not np.array_equal(cache_bytes, payloads):
            message = f"expected t and {BYTES_A_TOKEN} * t bytes for t = 1 ... {LENGTH}"
            yield Problem("counts", where, message)
        attention, where = _get(arrays, seed, "attention")
        if attention is not None:
            yield from _probabilities(attention, where)


def _probabilities(attention: Array, where: str) -> Iterator[Problem]:
    if attention.min() < 0:
        yield Problem("probabilities", where, f"expected none below 0; got {attention.min()}")
    if np.triu(attention, 1).any():
        yield Problem("probabilities", where, "a row sees positions after its own")
    off = np.abs(attention.sum(axis=1) - 1)  # (24,)
    if not off.max() < TOLERANCE:
        message = f"row {off.argmax()} sums to 1 only within {off.max():.3g}"
        yield Problem("probabilities", where, message)


def check_errors(arrays: Arrays, results: Mapping[int, Mapping[str, Any]]) -> Iterator[Problem]:
    """Check reported errors, exactly: subtraction and maximum round alike everywhere."""
    for seed, key, found in recomputed_errors(arrays):
        if seed in results and results[seed][key] != found:
            message = f"reported {results[seed][key]!r}; the arrays give {found!r}"
            yield Problem("errors", f"{RESULTS_FILE}: seed {seed}: {key}", message)


def check_counts(results: Mapping[int, Mapping[str, Any]]) -> Iterator[Problem]:
    """Check reported counts against their closed forms."""
    for seed, one in results.items():
        for key, expected in COUNTS.items():
            if one[key] != expected:
                message = f"reported {one[key]!r}; the closed form is {expected}"
                yield Problem("counts", f"{RESULTS_FILE}: seed {seed}: {key}", message)


def check_sizes(arrays: Arrays) -> Iterator[Problem]:
    """Check that equal arrays are equal, controls differ, and published figures come out."""
    for seed, key, found in recomputed_errors(arrays):
        where = f"{ARRAYS_FILE}: seed {seed}: {key}"
        if not ERRORS[key].control:
            if not found < TOLERANCE:
                yield Problem("tolerances", where, f"expected below {TOLERANCE}; got {found:.3g}")
        elif not found > CONTROL:
            yield Problem("controls", where, f"expected above {CONTROL}; got {found:.3g}")
        if key == "wrong_chunk_mask_error" and round(found, 6) != PUBLISHED_WRONG_MASK[seed]:
            message = f"published {PUBLISHED_WRONG_MASK[seed]}; got {found:.6f}"
            yield Problem("published", where, message)


def check_relations(arrays: Arrays) -> Iterator[Problem]:
    """Check relations that no reported error covers but that must hold."""
    for seed in SEEDS:
        for left, left_rows, right, right_rows, reason in MUST_AGREE:
            one, where = _get(arrays, seed, left)
            other, _ = _get(arrays, seed, right)
            if one is None or other is None:
                continue
            found = np.abs(one[left_rows] - other[right_rows]).max()
            if not found < TOLERANCE:
                message = f"differs from {right} by {found:.3g}, yet {reason}"
                yield Problem("relations", where, message)
        yield from _changed_rows_move(arrays, seed)
        for name in ROW_ARRAYS:
            rows, where = _get(arrays, seed, name)
            if rows is not None and np.abs(rows).max() > 1:
                yield Problem("relations", where, "a hyperbolic tangent lies within -1 ... 1")


def _changed_rows_move(arrays: Arrays, seed: int) -> Iterator[Problem]:
    """Check that rows of changed tokens change, so that `causal_future_error` means something."""
    full, _ = _get(arrays, seed, "full")
    masked, where = _get(arrays, seed, "masked")
    if full is None or masked is None:
        return
    moved = np.abs(full - masked).max(axis=1)[CHANGED_FROM:]  # (12,)
    if not moved.min() > CONTROL:
        message = f"row {CHANGED_FROM + moved.argmin()} did not move with its own token"
        yield Problem("relations", where, message)


def _get(arrays: Arrays, seed: int, name: str) -> tuple[Array | None, str]:
    """A seed's array, if usable, and where it is."""
    full_name = array_name(seed, name)
    return arrays.get(full_name), f"{ARRAYS_FILE}: {full_name}"
