"""A cache as bytes and back: an npz archive without pickles, refused unless whole and ours."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cachecheck.errors import InputError
from cachecheck.reference.cache import LayerState
from cachecheck.reference.config import Config
from cachecheck.reference.positions import Ints

_BROKEN = (
    *(ValueError, OSError, EOFError, KeyError, NotImplementedError, RuntimeError, MemoryError),
    *(SyntaxError, struct.error, zipfile.BadZipFile, zlib.error),
)  # whatever zipfile and numpy raise on bytes that are not an archive of arrays


@dataclass(frozen=True)
class Header:
    """The kind and decoder of a saved cache, and the counts that its arrays do not show."""

    kind: str
    fingerprint: str
    length: int
    last_chunk: int


def pack(header: Header, layers: Sequence[LayerState]) -> bytes:
    """The bytes of a cache."""
    arrays: dict[str, Any] = {name: np.array(value) for name, value in vars(header).items()}
    for number, layer in enumerate(layers):
        arrays |= {f"{number}.{name}": array for name, array in layer.items()}
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def unpack(data: Any, like: Header, empty: Sequence[LayerState]) -> tuple[Header, list[LayerState]]:
    """Header and layers of saved bytes.

    Args:
        data: from `pack`.
        like: kind and fingerprint that are expected; its counts do not matter.
        empty: the state of an empty cache, for names, types and shapes.

    Raises:
        InputError: not such bytes, of another decoder, or arrays of other names, types or shapes.
    """
    if not isinstance(data, bytes):
        raise InputError(f"expected the bytes that save returned; got {type(data).__name__}")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            broken = archive.testzip()  # compares checksums before numpy parses anything
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = Header(
            str(arrays.pop("kind")),
            str(arrays.pop("fingerprint")),
            int(arrays.pop("length")),
            int(arrays.pop("last_chunk")),
        )
    except _BROKEN as error:
        raise InputError(f"these bytes are not a saved cache ({type(error).__name__})") from error
    if broken is not None:
        raise InputError(f"these bytes are not a saved cache ({broken} is damaged)")
    if (header.kind, header.fingerprint) != (like.kind, like.fingerprint):
        raise InputError("this cache was saved by another decoder; its rows would be wrong")
    return header, _layers(arrays, empty)


def _layers(arrays: Mapping[str, NDArray[Any]], empty: Sequence[LayerState]) -> list[LayerState]:
    expected = {f"{n}.{name}": one for n, layer in enumerate(empty) for name, one in layer.items()}
    if set(arrays) != set(expected):
        raise InputError("these bytes are not a saved cache: arrays are missing or unknown")
    for name, one in expected.items():
        number = name.partition(".")[0]
        axis = min(1, one.ndim - 1)  # of R: positions (R,), all others (G, R, ...)
        count = arrays[f"{number}.positions"].size
        shape = (*one.shape[:axis], count, *one.shape[axis + 1 :])
        array = arrays[name]
        if array.dtype != one.dtype or array.shape != shape:
            raise InputError(
                f"saved array {name} should be {one.dtype} {shape}; got {array.dtype} {array.shape}"
            )
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise InputError(f"saved array {name} holds values that are not finite")
    return [{name: arrays[f"{n}.{name}"] for name in layer} for n, layer in enumerate(empty)]


def needed_positions(length: int, config: Config) -> Ints:
    """The positions below ``length`` that the row at ``length`` may see."""
    positions = np.arange(length)
    if config.window is None:
        return positions
    return positions[(positions > length - config.window) | (positions < config.sinks)]
