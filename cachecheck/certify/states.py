"""The distance between two states of a cache, or that they are not the same."""

from __future__ import annotations

import numpy as np

from cachecheck.guard import Guarded, Snapshot
from cachecheck.tolerance import RELATIVE


def state_distance(decoder: Guarded, got: Snapshot, expected: Snapshot) -> float | None:
    """The largest difference between two states, relative to the arrays' own sizes.

    Returns:
        0 for equal bytes; None where the states differ by more than rounding explains: other
        layers, names, shapes or types, other whole numbers, or floats beyond the tolerance.
    """
    if got == expected:
        return 0.0
    if [_form(layer) for layer in got] != [_form(layer) for layer in expected]:
        return None
    largest = 0.0
    for layer, other in zip(got, expected, strict=True):
        for (_, dtype, _, data), (*_, due) in zip(layer, other, strict=True):
            if data == due:
                continue
            if np.dtype(dtype).kind != "f":
                return None
            left = np.frombuffer(data, dtype).astype(np.float64)
            right = np.frombuffer(due, dtype).astype(np.float64)
            size = float(np.abs(right).max(initial=0.0)) or 1.0
            largest = max(largest, float(np.abs(left - right).max(initial=0.0)) / size)
    return largest if largest <= RELATIVE[decoder.precision] else None


def _form(layer: tuple[tuple[str, str, tuple[int, ...], bytes], ...]) -> list[object]:
    return [(name, dtype, shape) for name, dtype, shape, _ in layer]
