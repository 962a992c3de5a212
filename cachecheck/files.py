"""Files: written whole or not at all, and one codec for all that is stored as JSON.

Each kind of stored file names itself and its version; what is read is checked against the class
that it becomes, field by field. (The frozen experiment has a reader of its own, for an audit trusts
no byte.)
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from cachecheck.errors import InputError

T = TypeVar("T")


def write_whole(path: Path, text: str) -> None:
    """Put ``text`` at ``path`` in one step: a reader, or a crash, sees the old file or the new."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


@dataclass(frozen=True)
class _Head:
    """The fields that every stored file begins with."""

    cachecheck: str
    version: int


@dataclass(frozen=True)
class Stored(Generic[T]):
    """A kind of stored file.

    Attributes:
        name: what the file calls itself, ``failure`` for one.
        version: of its fields; another one is refused.
        content: the dataclass that it is read into.
    """

    name: str
    version: int
    content: type[T]

    def encode(self, value: T, *, indent: int = 2, depth: int | None = None) -> str:
        """``value`` as text.

        Args:
            value: what to store.
            indent: spaces for each level; 0 for one line.
            depth: levels whose items have a line each, and are written in full on it, as suits a
                table; None for all levels.
        """
        head = {"cachecheck": self.name, "version": self.version}
        data = {**head, **msgspec.to_builtins(value, str_keys=True)}
        if depth is not None:
            return _in_lines(data, indent, depth) + "\n"
        encoded = msgspec.json.encode(data)
        return msgspec.json.format(encoded, indent=indent).decode() + "\n"

    def decode(self, text: str | bytes, where: object) -> T:
        """The value that `encode` made ``text`` of; ``where`` names it in an error.

        Raises:
            InputError: it is something else, of another version, or a field does not fit.
        """
        head = self._read(text, where, _Head)
        if head.cachecheck != self.name:
            raise InputError(f"{where} is a stored {head.cachecheck}; expected a {self.name}")
        if head.version != self.version:
            raise InputError(
                f"{where} is a {self.name} of version {head.version}; this release reads version "
                f"{self.version}"
            )
        value: T = self._read(text, where, self.content)
        return value

    def read(self, path: Path) -> T:
        """The value stored at ``path``.

        Raises:
            InputError: it cannot be read, or is something else.
        """
        try:
            data = path.read_bytes()
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror}") from error
        return self.decode(data, path)

    def _read(self, text: str | bytes, where: object, kind: type[Any]) -> Any:
        try:
            return msgspec.json.decode(text, type=kind)
        except (ValueError, RecursionError) as error:  # msgspec's own errors are ValueErrors
            raise InputError(f"{where} is not a stored {self.name}: {error}") from error


def _in_lines(data: Any, indent: int, depth: int, level: int = 1) -> str:
    """``data`` as JSON, each item of the first ``depth`` levels on a line."""
    if level > depth or not data or not isinstance(data, dict | list | tuple):
        return msgspec.json.encode(data).decode()
    pad = "\n" + " " * indent * level
    if isinstance(data, dict):
        items = [
            f"{msgspec.json.encode(key).decode()}: {_in_lines(item, indent, depth, level + 1)}"
            for key, item in data.items()
        ]
        first, last = "{", "}"
    else:
        items = [_in_lines(item, indent, depth, level + 1) for item in data]
        first, last = "[", "]"
    return first + pad + f",{pad}".join(items) + pad[: len(pad) - indent] + last
