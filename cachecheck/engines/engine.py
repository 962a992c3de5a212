"""An engine: somebody else's decoders by name, and what a zoo needs to go through all of them."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from cachecheck.errors import InputError, TargetError

if TYPE_CHECKING:
    from cachecheck.protocol import Decoder


@dataclass(frozen=True)
class Variant:
    """One way to run an architecture: a kind of cache, of attention, of precision.

    Attributes:
        id: its name, behind the slash in a target's name; empty where an engine has no others.
        meaning: in words.
        laws: that it may break while the usual variant keeps them; empty for all.
    """

    id: str
    meaning: str
    laws: tuple[str, ...] = ()

    def concerns(self, law: str) -> bool:
        """True if this variant may break the law while the usual one keeps it."""
        return not self.laws or law in self.laws


def _nothing() -> None:
    """The preparation of an engine that needs none."""


@dataclass(frozen=True)
class Zoo:
    """Everything of an engine that a survey goes through.

    Attributes:
        architectures: their names, in the order of the matrix.
        variants: the usual one first.
        packages: whose versions the matrix notes where they are installed.
        preload: modules that every worker needs; loaded once, in the process that workers are
            forked from.
        prepare: is called first in each worker, to silence the library for one.
    """

    architectures: tuple[str, ...]
    variants: tuple[Variant, ...] = (Variant("", "as it is"),)
    packages: tuple[str, ...] = ()
    preload: tuple[str, ...] = ()
    prepare: Callable[[], None] = _nothing


@dataclass(frozen=True)
class Engine:
    """An engine's entry in the registry.

    Functions are given as ``module:function`` and files as ``package:file``, so that an entry loads
    nothing, and travels to another process as it is.

    Attributes:
        name: of the library; ``cachecheck zoo NAME`` surveys it.
        prefix: of its targets: ``hf`` for ``hf:llama``.
        libraries: packages that it needs, by the name that pip and import know.
        factory: a function from a decoder's name (``llama``, ``llama/static``) to a function from
            a seed to a decoder; it raises TargetError at a name that it does not know.
        zoo: a function without arguments that gives the `Zoo`; empty where there is none.
        known_failures: file of its ledger, see `known_failures`; empty where there is none.
    """

    name: str
    prefix: str
    libraries: tuple[str, ...]
    factory: str
    zoo: str = ""
    known_failures: str = ""

    def decoder_factory(self, name: str) -> Callable[[int], Decoder]:
        """A function from a seed to the decoder of this name, without the prefix.

        Raises:
            TargetError: an unknown name, or a library is missing or cannot be imported.
        """
        self.need_libraries(f"{self.prefix}:{name}")
        make: Callable[[int], Decoder] = resolve_name(self.factory)(name)
        return make

    def load_zoo(self) -> Zoo:
        """The models that a survey goes through.

        Raises:
            InputError: the engine has no zoo.
            TargetError: a library is missing or cannot be imported.
        """
        if not self.zoo:
            raise InputError(f"{self.name} has no zoo; check one decoder: {self.prefix}:NAME")
        self.need_libraries(f"zoo {self.name}")
        found: Zoo = resolve_name(self.zoo)()
        return found

    def need_libraries(self, what: str) -> None:
        """Make sure that the engine's libraries are there and can be imported.

        Args:
            what: needs them, as the message says.

        Raises:
            TargetError: a library is missing, or fails as it is imported.
        """
        lacking = [name for name in self.libraries if importlib.util.find_spec(name) is None]
        if lacking:
            raise TargetError(
                f"{what} needs {' and '.join(lacking)}, not installed here; "
                f"pip install {' '.join(lacking)}"
            )
        try:
            resolve_name(self.factory)
        except Exception as error:
            cause: BaseException = error
            while cause.__cause__ is not None:
                cause = cause.__cause__
            needed = " and ".join(self.libraries) or self.name
            raise TargetError(
                f"{what} needs {needed}, installed here, and importing it fails: {cause}"
            ) from error


def decoder_name(architecture: str, variant: str) -> str:
    """The name of one variant of an architecture, as a factory knows it: ``llama/static``."""
    return f"{architecture}/{variant}" if variant else architecture
