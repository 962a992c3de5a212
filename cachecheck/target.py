"""From the name of a target to a factory of decoders.

``reference``, ``package.module:factory``, ``path/file.py:factory`` or ``hf:llama``. A factory takes
a seed; one without parameters, or a ready decoder, is accepted as well.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from cachecheck.errors import CachecheckError, TargetError
from cachecheck.guard import Guarded
from cachecheck.protocol import FUNCTIONS


@dataclass(frozen=True)
class Target:
    """Something to check, by name.

    Attributes:
        name: as the user wrote it.
        make: from a seed to a guarded decoder. Raises `TargetError` when what the factory gives is
            not a decoder.
        seeds: how many different seeds are worth drawing: 1 where they change nothing, few where a
            decoder may be slow to build, many for the reference, whose configuration they pick.
    """

    name: str
    make: Callable[[int], Guarded]
    seeds: int


_FEW, _MANY = 4, 256
_FORMS = "reference, package.module:factory, path/file.py:factory or hf:NAME"


def load_target(name: str) -> Target:
    """The target of that name.

    Raises:
        TargetError: no such module, file or member, or code that fails as it is imported.
    """
    if name == "reference":
        from cachecheck.reference import reference  # noqa: PLC0415 - only for this target

        return replace(as_target(reference, name), seeds=_MANY)
    if name.startswith("hf:"):
        from cachecheck.engines import transformers_factory  # noqa: PLC0415 - optional packages

        return as_target(transformers_factory(name.removeprefix("hf:")), name)
    where, colon, member = name.rpartition(":")
    if not colon or not where or not member:
        raise TargetError(f"unknown target {name!r}; expected {_FORMS}")
    module = _load_file(Path(where)) if where.endswith(".py") else _load_module(where)
    if not hasattr(module, member):
        raise TargetError(f"{where} has no {member!r}; it has {_candidates(module)}")
    return as_target(getattr(module, member), name)


def as_target(source: Any, name: str) -> Target:
    """A target from a factory (with or without a seed) or a ready decoder.

    Raises:
        TargetError: neither of them.
    """
    if not inspect.isclass(source) and any(hasattr(source, one) for one in FUNCTIONS):
        ready = Guarded(source)
        return Target(name, lambda _seed: ready, 1)
    if not callable(source):
        raise TargetError(
            f"{name} is {type(source).__name__}; expected a factory that takes a seed, or a decoder"
        )
    takes_seed = _takes_an_argument(source)

    def make(seed: int) -> Guarded:
        try:
            decoder = source(seed) if takes_seed else source()
        except CachecheckError:
            raise
        except (Exception, SystemExit) as error:
            raise TargetError(f"{name}({seed}) raised {_described(error)}") from error
        if decoder is None:
            raise TargetError(f"{name}({seed}) returned None; expected a decoder")
        return Guarded(decoder)

    return Target(name, make, _FEW if takes_seed else 1)


def _takes_an_argument(source: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(source).parameters.values()
    except (TypeError, ValueError):  # a builtin without a signature
        return True
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return any(p.kind in positional or p.kind is p.VAR_POSITIONAL for p in parameters)


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise TargetError(f"no file {path}; a file target is path/file.py:factory")
    name = f"_cachecheck_target_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise TargetError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickles look their module up there
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # a decoder's file may import its neighbours
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise TargetError(f"{path} could not be loaded: {_described(error)}") from error
    return module


def _load_module(name: str) -> ModuleType:
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise TargetError(f"{name} could not be imported: {_described(error)}") from error


def _described(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    first = (str(error).strip().splitlines() or ["(no message)"])[0]
    return f"{type(error).__name__}: {first}{place}"


def _candidates(module: ModuleType) -> str:
    own = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]
    return ", ".join(own) or "no functions or classes of its own"
