"""A decoder behind a guard: every answer is checked before a law sees it.

A wrong adapter must never look like a right decoder, so nothing unusable passes: each mistake
becomes one line that says what was expected, what came and what to do.
"""

from __future__ import annotations

import contextlib
import traceback
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cachecheck.errors import DecoderError, Unsupported
from cachecheck.protocol import Decoder, capabilities, check_members
from cachecheck.tolerance import (
    DOUBT,
    RELATIVE,
    UNDECLARED_DOUBT,
    bounds,
    precision_of,
    typical,
)

Rows = NDArray[np.floating]
_SAMPLES = (16, 8, 4)  # tokens whose rows show the precision, or 2 if the decoder fails on more
Snapshot = tuple[tuple[tuple[str, str, tuple[int, ...], bytes], ...], ...]


class Guarded:
    """``decoder`` with checked answers. Raises `DecoderError` for anything unusable.

    Raises:
        TargetError: a member is missing or declared wrongly.
    """

    def __init__(self, decoder: Decoder) -> None:
        check_members(decoder)
        self._decoder = decoder
        self._width: int | None = None
        self.vocab_size = int(decoder.vocab_size)
        self.capabilities = capabilities(decoder)

    def full(self, tokens: Any) -> Rows:
        """The decoder's own full pass: (T, width), finite."""
        ids = np.array(tokens, np.int64)
        return self._rows("full", self._call("full", ids), len(tokens))

    def new_cache(self) -> Any:
        """The decoder's empty cache."""
        cache = self._call("new_cache")
        if cache is None:
            raise DecoderError("new_cache() returned None; expected an empty cache")
        return cache

    def extend(self, tokens: Any, cache: Any) -> tuple[Rows, Any]:
        """Rows of the new tokens, and the cache that holds them."""
        ids = np.array(tokens, np.int64)
        answer = self._call("extend", ids, cache)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise DecoderError(
                f"extend({_tokens(len(tokens))}, cache) returned {_what(answer)}; "
                "expected a pair (rows, cache)"
            )
        rows, after = answer
        if not hasattr(rows, "shape") and not _looks_like_rows(rows) and _looks_like_rows(after):
            raise DecoderError(
                f"extend({_tokens(len(tokens))}, cache) returned ({_what(rows)}, {_what(after)}); "
                "expected (rows, cache): the two seem swapped"
            )
        if after is None:
            raise DecoderError(
                f"extend({_tokens(len(tokens))}, cache) returned None for the cache; expected the "
                "cache that holds the new tokens too"
            )
        return self._rows("extend", rows, len(tokens)), after

    def snapshot(self, cache: Any) -> Snapshot | None:
        """The bytes of ``state(cache)``; None where the decoder offers no state."""
        if not self.capabilities.has_state:
            return None
        state = self._call("state", cache)
        try:
            return tuple(_layer_bytes(layer) for layer in state)
        except Exception as error:  # the conversion of a foreign object may raise anything
            raise DecoderError(
                f"state(cache) returned {_what(state)}; expected, per layer, a mapping of names "
                f"to arrays ({_first_line(error)})"
            ) from error

    @cached_property
    def precision(self) -> str:
        """The precision of the rows: as declared, else what a sample of them carries."""
        return self.capabilities.dtype or precision_of(self._sample)

    @cached_property
    def doubt(self) -> float:
        """How many times its tolerance a difference may be and still be rounding, maybe."""
        undeclared = self.capabilities.dtype is None and self.precision == "float64"
        end = UNDECLARED_DOUBT if undeclared else DOUBT[self.precision]
        return end / RELATIVE[self.precision]

    def bounds(self, rows: Rows) -> NDArray[np.float64]:
        """(T, width): how far from each entry of ``rows`` is still equal, for this decoder."""
        usual = typical(self._sample)
        return bounds(rows, self.precision, usual=usual, atol=self.capabilities.atol)

    @cached_property
    def _sample(self) -> Rows:
        """Rows of a full pass that show the decoder's precision and its typical entries."""
        most = self.capabilities.max_length or _SAMPLES[0]
        for length in _SAMPLES:
            # What goes wrong with long sequences only is for a law to find, and to make small.
            with contextlib.suppress(DecoderError, Unsupported):
                return self.full([at % self.vocab_size for at in range(min(length, most))])
        return self.full([0, 1])

    def probe(self) -> None:
        """One and two tokens by both paths: meets the adapter's plain mistakes before any law.

        Raises:
            DecoderError: an answer that is not rows and a cache, or that changes from one full
                pass to the next.
        """
        self.full([0])
        rows = self.full([0, 1])
        _, cache = self.extend([0], self.new_cache())
        self.extend([1], cache)
        again = self.full([0, 1])
        if np.any(np.abs(again.astype(np.float64) - rows) > self.bounds(rows)):
            raise DecoderError(  # without the number, which differs from law to law
                "full gave two answers for the same 2 tokens; expected the same rows every time: "
                "switch off dropout (eval mode) and other randomness, and keep nothing from call "
                "to call outside the cache"
            )

    def _call(self, name: str, *arguments: Any) -> Any:
        try:
            return getattr(self._decoder, name)(*arguments)
        except NotImplementedError as refusal:
            raise Unsupported(f"{name} refused: {_first_line(refusal)}") from refusal
        except (Exception, SystemExit) as error:
            call = _shown(name, arguments)
            raise DecoderError(
                f"{call} raised {type(error).__name__}: {_first_line(error)}{_place(error)}"
            ) from error

    def _rows(self, name: str, answer: Any, length: int) -> Rows:
        call = (
            f"{name}({_tokens(length)})" if name == "full" else f"{name}({_tokens(length)}, cache)"
        )
        if answer is None or isinstance(answer, str | bytes | dict | tuple):
            raise DecoderError(f"{call} returned {_what(answer)}; expected {_floats(length)}")
        try:
            rows = np.array(answer)  # a copy: a decoder may reuse its buffer
        except Exception as error:
            raise DecoderError(
                f"{call} returned {_what(answer)}, which numpy cannot read "
                f"({_first_line(error)}); return a numpy array, "
                "e.g. rows.detach().cpu().float().numpy()"
            ) from error
        if rows.dtype.itemsize > 8 and rows.dtype.kind == "f":
            rows = rows.astype(np.float64)  # extended precision: compared as float64
        if rows.dtype.kind != "f":
            raise DecoderError(f"{call} returned {rows.dtype} values; expected {_floats(length)}")
        if rows.ndim != 2 or len(rows) != length or rows.shape[1] == 0:
            raise DecoderError(
                f"{call} returned shape {rows.shape}; expected {_floats(length)}: "
                "one row for each token given, and no others"
            )
        if self._width is not None and rows.shape[1] != self._width:
            raise DecoderError(
                f"{call} returned rows of width {rows.shape[1]}; an earlier call gave "
                f"{self._width}: full and extend must return the same kind of rows"
            )
        bad = np.argwhere(~np.isfinite(rows))
        if bad.size:
            row, column = (int(index) for index in bad[0])
            raise DecoderError(
                f"{call} returned {rows[row, column]} in row {row}, column {column}; "
                "rows must be finite"
            )
        self._width = rows.shape[1]
        return rows


def _layer_bytes(layer: Any) -> tuple[tuple[str, str, tuple[int, ...], bytes], ...]:
    if not hasattr(layer, "items"):
        raise TypeError(f"a layer is {_what(layer)}")
    arrays = {str(name): np.asarray(value) for name, value in layer.items()}
    for name, array in arrays.items():
        if array.dtype.hasobject:  # the bytes would be addresses
            raise TypeError(f"{name} is not numbers")
    return tuple((name, a.dtype.str, a.shape, a.tobytes()) for name, a in sorted(arrays.items()))


def _tokens(length: int) -> str:
    return "1 token" if length == 1 else f"{length} tokens"


def _floats(length: int) -> str:
    return f"floats of shape ({length}, width)"


def _shown(name: str, arguments: tuple[Any, ...]) -> str:
    shown = [_tokens(len(a)) if isinstance(a, np.ndarray) else "cache" for a in arguments]
    return f"{name}({', '.join(shown)})"


def _what(value: Any) -> str:
    shape = getattr(value, "shape", None)
    if value is None:
        return "None"
    if shape is not None:
        return f"{type(value).__name__} of shape {tuple(shape)}"
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    return type(value).__name__


def _looks_like_rows(value: Any) -> bool:
    """Whether numpy sees a two-dimensional float array; used to recognise a swapped pair only."""
    if isinstance(value, tuple | dict | str):
        return False
    try:
        array = np.asarray(value)
    except Exception:  # noqa: BLE001 - a foreign object's conversion may raise anything
        return False
    return array.ndim == 2 and array.dtype.kind == "f"


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or ["(no message)"])[0]


def _place(error: BaseException) -> str:
    """Where in the decoder's code it was raised, as `` (file.py:12)``."""
    frames = traceback.extract_tb(error.__traceback__)[1:]  # the first is our own call
    # The last line outside installed packages: an error deep in numpy has its cause further up.
    own = [frame for frame in frames if "site-packages" not in frame.filename] or frames
    return f" ({Path(own[-1].filename).name}:{own[-1].lineno})" if own else ""
