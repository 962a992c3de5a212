"""The answers of a decoder: read and checked, with one line for each that cannot be used."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cachecheck.errors import DecoderError

Rows = NDArray[np.floating]
LayerBytes = tuple[tuple[str, str, tuple[int, ...], bytes], ...]
Snapshot = tuple[LayerBytes, ...]


def read_rows(call: str, answer: Any, length: int, width: int | None) -> Rows:
    """``answer`` as (length, width) finite floats, copied: a decoder may reuse its buffer.

    Args:
        call: the call, for the message.
        answer: anything.
        length: rows expected.
        width: of the rows of earlier calls, None before the first.

    Raises:
        DecoderError: anything else.
    """
    if answer is None or isinstance(answer, str | bytes | dict | tuple):
        raise DecoderError(f"{call} returned {describe(answer)}; expected {_expected_rows(length)}")
    try:
        rows = np.array(answer)
    except Exception as error:
        raise DecoderError(
            f"{call} returned {describe(answer)}, which numpy cannot read "
            f"({first_line(error)}); return a numpy array, "
            "e.g. rows.detach().cpu().float().numpy()"
        ) from error
    if rows.dtype.itemsize > 8 and rows.dtype.kind == "f":
        rows = rows.astype(np.float64)  # extended precision: compared as float64
    if rows.dtype.kind != "f":
        raise DecoderError(
            f"{call} returned {rows.dtype} values; expected {_expected_rows(length)}"
        )
    if rows.ndim != 2 or len(rows) != length or rows.shape[1] == 0:
        raise DecoderError(
            f"{call} returned shape {rows.shape}; expected {_expected_rows(length)}: "
            "one row for each token given, and no others"
        )
    if width is not None and rows.shape[1] != width:
        raise DecoderError(
            f"{call} returned rows of width {rows.shape[1]}; an earlier call gave "
            f"{width}: full and extend must return the same kind of rows"
        )
    bad = np.argwhere(~np.isfinite(rows))
    if bad.size:
        row, column = (int(index) for index in bad[0])
        raise DecoderError(
            f"{call} returned {rows[row, column]} in row {row}, column {column}; "
            "rows must be finite"
        )
    return rows


def read_pair(call: str, answer: Any, *, swapped: bool = False) -> tuple[Any, Any]:
    """``answer`` as rows and a cache; with ``swapped``, a pair the wrong way round is recognised.

    Raises:
        DecoderError: no pair, no cache in it, or swapped.
    """
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise DecoderError(f"{call} returned {describe(answer)}; expected a pair (rows, cache)")
    rows, after = answer
    if swapped and not _may_be_rows(rows) and looks_like_rows(after):
        raise DecoderError(
            f"{call} returned ({describe(rows)}, {describe(after)}); "
            "expected (rows, cache): the two seem swapped"
        )
    if after is None:
        raise DecoderError(
            f"{call} returned None for the cache; expected the cache that holds the new tokens too"
        )
    return rows, after


def layer_bytes(layer: Any) -> LayerBytes:
    """The arrays of one layer as names, types, shapes and bytes.

    Raises:
        TypeError: not a mapping, or values that are not numbers.
    """
    if not hasattr(layer, "items"):
        raise TypeError(f"a layer is {describe(layer)}")
    arrays = {str(name): np.asarray(value) for name, value in layer.items()}
    for name, array in arrays.items():
        if array.dtype.hasobject:  # the bytes would be addresses
            raise TypeError(f"{name} is not numbers")
    return tuple((name, a.dtype.str, a.shape, a.tobytes()) for name, a in sorted(arrays.items()))


def tokens_text(length: int) -> str:
    """``1 token``, ``2 tokens``."""
    return "1 token" if length == 1 else f"{length} tokens"


def _expected_rows(length: int) -> str:
    return f"floats of shape ({length}, width)"


_ARGUMENTS = {
    "full": ("tokens",),
    "new_cache": (),
    "extend": ("tokens", "cache"),
    "crop": ("cache", "number"),
    "load": ("bytes",),
    "full_batch": ("arrays",),
    "new_batch_cache": ("number",),
    "extend_batch": ("arrays", "cache"),
    "reorder": ("cache", "number"),
    "merge": ("caches",),
    "check_invariants": ("caches",),
}
"""The kind of each function's arguments; a function that is not listed takes caches."""


def describe_call(name: str, arguments: tuple[Any, ...]) -> str:
    """A call as a reader sees it: ``extend(3 tokens, cache)``."""
    kinds = _ARGUMENTS.get(name, ("cache",) * len(arguments))
    return f"{name}({', '.join(map(_describe_argument, kinds, arguments))})"


def _describe_argument(kind: str, value: Any) -> str:
    if kind == "tokens":
        return tokens_text(len(value))
    if kind == "arrays":
        return f"rows of {'/'.join(str(len(one)) for one in value)} tokens"
    return str(value) if kind == "number" else kind


def describe(value: Any) -> str:
    """The kind of a value that is not what was expected: its type, with its shape or length."""
    shape = getattr(value, "shape", None)
    if value is None:
        return "None"
    if shape is not None:
        return f"{type(value).__name__} of shape {tuple(shape)}"
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    return type(value).__name__


def _may_be_rows(value: Any) -> bool:
    return hasattr(value, "shape") or looks_like_rows(value)


def looks_like_rows(value: Any) -> bool:
    """True if numpy sees a two-dimensional float array; used to recognise a swapped pair only."""
    if isinstance(value, tuple | dict | str):
        return False
    try:
        array = np.asarray(value)
    except Exception:  # noqa: BLE001 - a foreign object's conversion may raise anything
        return False
    return array.ndim == 2 and array.dtype.kind == "f"


def first_line(error: BaseException) -> str:
    """The first line of its message."""
    return (str(error).strip().splitlines() or ["(no message)"])[0]


def raised_at(error: BaseException) -> str:
    """The place in the decoder's code that raised, as `` (file.py:12)``.

    It is the last line outside installed packages: an error deep in numpy has its cause further
    up. Behind an adapter of ours it is the engine's own last line.
    """
    frames = traceback.extract_tb(error.__traceback__)[1:]  # the first is our own call
    theirs = [frame for frame in frames if not Path(frame.filename).is_relative_to(_ADAPTERS)]
    own = [frame for frame in theirs if "site-packages" not in frame.filename]
    engine = [frame for frame in theirs if not _NUMERICS & {*Path(frame.filename).parts}]
    for chosen in (own, engine, theirs):
        if chosen:
            return f" ({Path(chosen[-1].filename).name}:{chosen[-1].lineno})"
    return ""


_ADAPTERS = Path(__file__).parent.parent / "engines"
_NUMERICS = {"numpy", "torch"}
