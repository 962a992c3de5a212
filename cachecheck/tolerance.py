"""How close is equal, for each precision, and why.

Two right ways of computing the same rows differ by rounding alone: the same products are summed
in another order, over other block sizes. Rounding is relative, so the tolerance scales with the
largest entry of the rows compared (an entry that cancels to almost nothing keeps the rounding of
what cancelled). The factors:

float64   1e-12. The published experiment fixed this bound beforehand and measured 5.6e-16, that is
          2.5 units of 2^-52. There is room to spare (mild mask faults move rows by 1e-9 and more
          up to a thousand tokens of history), so it is generous: 4500 units.
float32   3e-5, 250 units of 2^-23. Seven right Hugging Face models of two layers came to 1.9e-6 at
          most between full and chunked (400 sequences each, up to 24 tokens); the mildest mask
          fault on small weights to 1.6e-5 with a thousand tokens of history. There is little
          room, so the factor is 15 times the noise and no more.
float16   2e-2, 20 units of 2^-10; the same models came to 2.4e-3 (100 sequences each).
bfloat16  1e-1, 13 units of 2^-7; the same models came to 1.5e-2.

A decoder whose own signal lies below its bound is told INCONCLUSIVE (see the law `sensitivity`).
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cachecheck.errors import InputError

RELATIVE = {"float64": 1e-12, "float32": 3e-5, "float16": 2e-2, "bfloat16": 1e-1}
"""Largest difference, relative to the largest entry, that is still called equal."""

# Fewer distinct fractions than this could be representable in a short type by chance.
_ENOUGH = 8


def tolerance(rows: NDArray[Any], precision: str, *, atol: float | None = None) -> float:
    """The absolute difference still called equal to ``rows``.

    Args:
        rows: (T, width) the rows that others are compared with.
        precision: name of the one they were computed in, a key of `RELATIVE`.
        atol: what the decoder itself promises, if less than its dtype; wins when larger.

    Returns:
        A number >= 0; zero only for rows that are zero throughout.
    """
    scale = float(np.abs(rows.astype(np.float64)).max(initial=0.0))
    return max(RELATIVE[precision] * scale, atol or 0.0)


def dtype_name(dtype: Any) -> str:
    """The name we know a precision by: of a numpy or torch dtype, or a string.

    Raises:
        InputError: none of the four in `RELATIVE`.
    """
    name = str(dtype).removeprefix("torch.")
    if name not in RELATIVE:
        with contextlib.suppress(TypeError):
            name = np.dtype(dtype).name
    if name not in RELATIVE:
        raise InputError(f"dtype must be one of {', '.join(RELATIVE)}; got {dtype!r}")
    return name


def precision_of(rows: NDArray[Any]) -> str:
    """The precision that rows carry, which may be less than their array's dtype.

    An adapter often widens (``.float().numpy()``, ``.double()``): rows that a shorter type
    represents exactly, every one of them, were rounded to it. Whole numbers prove nothing, so
    at least 8 different fractions are asked for.
    """
    native = dtype_name(rows.dtype)
    values = np.unique(rows.astype(np.float64))
    fractions = values[values != np.round(values)]
    if len(fractions) < _ENOUGH or native in ("float16", "bfloat16"):
        return native
    single = fractions.astype(np.float32)
    if not np.array_equal(single.astype(np.float64), fractions):
        return native
    if not np.any(single.view(np.uint32) & 0xFFFF):
        return "bfloat16"
    with np.errstate(over="ignore"):
        half = single.astype(np.float16)
    return "float16" if np.array_equal(half.astype(np.float32), single) else "float32"
