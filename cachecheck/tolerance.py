"""The tolerance for each precision, with its reasons, and the range of doubt beyond it.

Two right ways of computing the same rows differ by rounding alone: the same products are summed
in another order, over other block sizes. Rounding is relative. So an entry may differ by a factor
times its own size, or times the decoder's typical entry if that is larger (what cancels to almost
nothing keeps the rounding of what cancelled). Typical is the 0.9 quantile of magnitudes: a few
huge columns (padding at -1e9) or rows must not hide mistakes in all the others. The factors:

float64   1e-12. The published experiment fixed this bound beforehand and measured 5.6e-16, that is
          2.5 units of 2^-52. There is room to spare (mild mask faults move rows by 1e-9 and more
          up to a thousand tokens of history), so it is generous: 4500 units.
float32   3e-5, 250 units of 2^-23. Seven right Hugging Face models of two layers came to 1.9e-6 at
          most between full and chunked (400 sequences each, up to 24 tokens); the mildest mask
          fault on small weights to 1.6e-5 with a thousand tokens of history. There is little
          room, so the factor is 15 times the noise and no more.
float16   2e-2, 20 units of 2^-10; the same models came to 2.4e-3 (100 sequences each).
bfloat16  1e-1, 13 units of 2^-7; the same models came to 1.5e-2.

Deep or ill-conditioned decoders amplify rounding beyond any fixed factor (24 layers without
normalisation, a normaliser that nearly cancels), and an adapter may compute in float32 and finish
in float64. So there is a second factor, `DOUBT`: a difference between the two is reported, as
INCONCLUSIVE, with what would settle it.

A fixed factor says nothing of the size of a mistake. So at the end of a search that found none the
room is measured (judge/margin.py): if the mildest mistake would move rows by less than three times
the factor, the tolerance is drawn closer (`tightened`), between rounding and that mistake; any
difference beyond it is INCONCLUSIVE, and so is everything where there is no room between.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cachecheck.errors import InputError

RELATIVE = {"float64": 1e-12, "float32": 3e-5, "float16": 2e-2, "bfloat16": 1e-1}
"""Largest difference, relative to an entry or the typical one, that is still called equal."""

_LARGE = 100.0
"""Columns this many times larger than the others do not count as typical."""

_ENOUGH = 8
"""Fewer rows or fractions than this show nothing: they may be as they are by chance."""


DOUBT = {"float64": 1e-9, "float32": 1e-3, "float16": 1e-1, "bfloat16": 3e-1}
"""Largest difference, relative as above, that may still be the rounding of an unusual decoder."""

_UNITS = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
"""Distance from 1 to the next larger number."""

UNDECLARED_DOUBT = 3e-5
"""The same for float64 rows of a decoder that declares no dtype: they may have been float32."""


ROOM = 3.0
"""A mistake must be this many times the tolerance, to be told from what is called equal."""


def least_noise(precision: str, length: int) -> float:
    """A bound on the rounding of a well-behaved row, in units of `RELATIVE`.

    A row is a chain of sums, the longest over ``length`` keys. Blocked and pairwise sums, which is
    what libraries use, err by about a unit in the last place for each halving; two more for the
    products and the last rounding. Sums of 16-bit numbers are kept in float32: two units there.
    What a decoder amplifies beyond that is measured, not reasoned about (judge/margin.py).
    """
    halvings = 0.0 if precision in ("float16", "bfloat16") else float(np.log2(length))
    return _UNITS[precision] * (2 + halvings) / RELATIVE[precision]


def tightened(noise: float, signal: float) -> float:
    """The tolerance between ``noise`` and ``signal``, all three in units of the usual one.

    It is the usual one where that leaves room: two right ways of computing may differ by more than
    this decoder's full pass shows. Else it lies half way, in powers, between noise and signal, and
    never below four times the noise.
    """
    if signal >= ROOM:
        return 1.0
    return min(1.0, max(4 * noise, float(np.sqrt(noise * signal))))


def shares(
    got: NDArray[Any], expected: NDArray[Any], bounds: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Absolute differences as shares of their bounds.

    Where a bound is zero, so is every row of the decoder; any difference is then infinitely large.
    """
    distance = np.abs(got.astype(np.float64) - expected.astype(np.float64))
    share = np.where(distance > 0, np.inf, 0.0)
    np.divide(distance, bounds, out=share, where=bounds > 0)
    return share


def typical(rows: NDArray[Any]) -> float:
    """The 0.9 quantile of the entries' magnitudes; the largest where that is zero.

    Up to four columns in ten may be a hundred times as large as the others (masked vocabulary at
    -1e9, a few massive features). Then it is the size of the others, in which the large ones must
    not hide mistakes.
    """
    sizes = np.abs(rows.astype(np.float64))
    pooled = float(np.quantile(sizes, 0.9)) or float(sizes.max(initial=0.0))
    if len(sizes) < _ENOUGH:
        return pooled  # too few rows to tell a small column from small entries
    columns = float(np.quantile(np.quantile(sizes, 0.9, axis=0), 0.6, method="lower"))
    return columns if 0 < _LARGE * columns < pooled else pooled


def bounds(
    rows: NDArray[Any], precision: str, *, typical_entry: float = 0.0, atol: float | None = None
) -> NDArray[np.float64]:
    """The absolute difference still called equal to each entry of ``rows``.

    Args:
        rows: (T, width) the rows that others are compared with.
        precision: name of the one they were computed in, a key of `RELATIVE`.
        typical_entry: of the decoder, from other rows: these few may be small by accident.
        atol: what the decoder itself promises, if less than its dtype; wins when larger.

    Returns:
        (T, width) numbers >= 0.
    """
    own = typical(rows)
    if typical_entry:  # a few rows may be larger, or show large columns alone
        own = max(typical_entry, min(own, _LARGE * typical_entry))
    size = np.maximum(np.abs(rows.astype(np.float64)), own)
    return np.maximum(RELATIVE[precision] * size, atol or 0.0)


def dtype_name(dtype: Any) -> str:
    """The name of a precision, a key of `RELATIVE`, from a numpy or torch dtype or a string.

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
