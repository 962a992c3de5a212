"""From the name of a target to a factory of decoders.

``reference``, ``reference:paged``, ``fault:ID``, ``package.module:factory``,
``path/file.py:factory``, or a name behind the prefix of an engine: ``hf:llama``. A factory takes a
seed: as its parameter ``seed``, else as its first argument if that has no default. One that needs
no arguments, or a ready decoder, is accepted as well.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from cachecheck.engines.registry import engine_with_prefix, target_forms
from cachecheck.errors import CachecheckError, InputError, TargetError
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
_FORMS = "reference, reference:NAME, fault:ID, package.module:factory, path/file.py:factory"


def load_target(name: str) -> Target:
    """The target of that name.

    Raises:
        TargetError: no such module, file or member, or code that fails as it is imported.
    """
    if name == "reference":
        from cachecheck.reference import reference  # noqa: PLC0415 - only for this target

        return replace(as_target(reference, name), seeds=_MANY)
    if name.startswith("reference:"):
        return as_target(_reference_cache(name.removeprefix("reference:")), name)
    if name.startswith("fault:"):
        return as_target(_fault(name.removeprefix("fault:")), name)
    prefix, colon, rest = name.partition(":")
    engine = engine_with_prefix(prefix) if colon else None
    if engine is not None:
        return as_target(engine.decoder_factory(rest), name)
    where, colon, member = name.rpartition(":")
    is_file = where.endswith(".py")
    is_module = where.replace(".", "_").isidentifier() and not where.startswith(".")
    if not colon or not member or not (is_file or is_module):
        hint = f" (a factory in that file is {name}:NAME)" if name.endswith(".py") else ""
        raise TargetError(f"unknown target {name!r}; expected {_FORMS} or {target_forms()}{hint}")
    module = _load_file(Path(where)) if is_file else _load_module(where)
    if not hasattr(module, member):
        raise TargetError(f"{where} has no {member!r}; it has {_candidates(module)}")
    return as_target(getattr(module, member), name)


def _reference_cache(name: str) -> Callable[[int], Any]:
    from cachecheck.reference.caches import CACHES  # noqa: PLC0415 - only for these targets

    if name not in CACHES:
        raise TargetError(f"unknown reference cache {name!r}; known are {', '.join(CACHES)}")
    return CACHES[name]


def _fault(name: str) -> Callable[[int], Any]:
    from cachecheck.faults import fault_named  # noqa: PLC0415 - only for these targets

    try:
        return fault_named(name).make
    except InputError as error:
        raise TargetError(str(error)) from error


def as_target(source: Any, name: str) -> Target:
    """A target from a factory (with or without a seed) or a ready decoder.

    Raises:
        TargetError: neither of them.
    """
    if not inspect.isclass(source) and any(hasattr(source, one) for one in FUNCTIONS):
        ready = _guarded(source, name)
        return Target(name, lambda _seed: ready, 1)
    if not callable(source):
        raise TargetError(
            f"{name} is {type(source).__name__}; expected a factory that takes a seed, or a decoder"
        )
    passing = _seed_passing(source)

    def make(seed: int) -> Guarded:
        call = f"{name}({'' if passing == 'none' else seed})"
        try:
            if passing == "keyword":
                decoder = source(seed=seed)
            else:
                decoder = source(seed) if passing == "first" else source()
        except CachecheckError:
            raise
        except (Exception, SystemExit) as error:
            raise TargetError(f"{call} raised {_described(error)}") from error
        if decoder is None:
            raise TargetError(f"{call} returned None; expected a decoder")
        guarded = _guarded(decoder, name)
        guarded.rebuild = lambda: make(seed)
        return guarded

    return Target(name, make, 1 if passing == "none" else _FEW)


def _guarded(decoder: Any, name: str) -> Guarded:
    try:
        return Guarded(decoder)
    except CachecheckError:
        raise
    except (Exception, SystemExit) as error:  # a property may raise anything
        raise TargetError(f"{name}: reading its members raised {_described(error)}") from error


def _seed_passing(source: Callable[..., Any]) -> Literal["keyword", "first", "none"]:
    """The place of a seed in a call of ``source``: a parameter of that name wins.

    Another parameter with a default means something else: ``make(layers=2)`` wants no seed there.
    """
    try:
        parameters = inspect.signature(source).parameters.values()
    except (TypeError, ValueError):  # a builtin without a signature
        return "first"
    if any(
        p.name == "seed" and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) for p in parameters
    ):
        return "keyword"
    if inspect.isclass(source) and getattr(source.__init__, "__module__", None) == "typing":
        return "none"  # a subclass of our Protocol without an __init__ of its own
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    takes = any(
        (p.kind in positional and p.default is p.empty) or p.kind is p.VAR_POSITIONAL
        for p in parameters
    )
    return "first" if takes else "none"


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise TargetError(f"no file {path}; a file target is path/file.py:factory")
    # Its own name for each file: pickles and dataclasses look their module up by it.
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]
    name = f"_cachecheck_target_{path.stem}_{digest}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise TargetError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
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
    """The error, and where it was raised, unless that was here or in the import system."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = not frames or frames[-1].filename.startswith((__file__, importlib.__file__, "<frozen"))
    place = "" if ours else f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})"
    first = (str(error).strip().splitlines() or ["(no message)"])[0]
    return f"{type(error).__name__}: {first}{place}"


def _candidates(module: ModuleType) -> str:
    """The functions and classes defined there, and decoders of imported classes."""
    own = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (
            getattr(value, "__module__", None) == module.__name__
            or (hasattr(value, "new_cache") and not inspect.isclass(value))
        )
    ]
    return ", ".join(own) or "no functions or classes of its own"
