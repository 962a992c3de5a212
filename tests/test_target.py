"""Targets by name, and the message about a name that leads nowhere."""

from __future__ import annotations

import importlib.util
import pickle
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cachecheck.errors import CachecheckError, TargetError
from cachecheck.protocol import Decoder
from cachecheck.target import as_target, load_target
from tests.decoders_for_tests import Altered, Sums

MINE = """
import dataclasses
from neighbour import Sums

class Mine(Sums):
    pass

@dataclasses.dataclass
class Settings:
    path: "str"

def make(seed):
    return Mine(seed)

def nothing(seed):
    return None

def number(seed):
    return 3

def fails(seed):
    raise OSError("no weights\\nat all")

def exits():
    raise SystemExit("no licence")

def two(width, depth):
    return Mine()

ready = Sums()
table = {1: 2}
_hidden = make
"""

# File -> its text. `neighbour` stands for the modules that a decoder's file imports beside it.
FILES = {
    "mine.py": MINE,
    "neighbour.py": "from tests.decoders_for_tests import Sums\n",
    "syntax.py": "def make(seed:\n    return 1\n",
    "imports.py": "import a_module_that_nobody_has\n",
    "raises.py": "\n\nraise RuntimeError('no GPU')\n",
    "exits.py": "import sys\nsys.exit(4)\n",
    "empty.py": "",
    "package/__init__.py": "",
    "package/inner.py": MINE,
    "other/mine.py": MINE.replace("Mine(seed)", "Mine(7)"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current directory, with `FILES`; what is imported from it is forgotten afterwards."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.mark.parametrize("name", ["mine.py:make", "./mine.py:make", "package.inner:make"])
def test_a_file_or_a_module_in_the_current_directory_names_a_factory(name: str) -> None:
    target = load_target(name)
    assert (target.name, target.seeds) == (name, 4)
    target.make(0).probe()
    rows = [target.make(seed).full([0]).tolist() for seed in (0, 1, 0)]
    assert rows[0] == rows[2] != rows[1]


def test_the_reference_has_a_configuration_for_each_seed() -> None:
    target = load_target("reference")
    assert target.seeds > 100
    assert target.make(0).vocab_size == 32


@dataclass
class Passing:
    """A factory, the seeds it is worth, and the seed its decoder gets for seed 5."""

    source: Any
    seeds: int
    seed: int


def keyword(*, seed: int) -> Sums:
    return Sums(seed)


def later(layers: int = 2, seed: int = 0) -> Sums:
    assert layers == 2
    return Sums(seed)


def another_default(layers: int = 2) -> Sums:
    return Sums(layers)


FACTORIES = {
    "a class": Passing(Sums, 4, 5),
    "another name": Passing(lambda random_state: Sums(random_state), 4, 5),  # noqa: PLW0108
    "by keyword only": Passing(keyword, 4, 5),
    "not the first": Passing(later, 4, 5),
    "no seed": Passing(lambda: Sums(3), 1, 3),
    "a default that is no seed": Passing(another_default, 1, 2),
    "arguments unknown": Passing(lambda *args: Sums(*args), 4, 5),  # noqa: PLW0108
    "partial": Passing(partial(later, 2), 4, 5),
    "ready": Passing(Sums(3), 1, 3),
}


@pytest.mark.parametrize("name", FACTORIES)
def test_a_seed_goes_where_one_is_expected(name: str) -> None:
    factory = FACTORIES[name]
    target = as_target(factory.source, name)
    assert target.seeds == factory.seeds
    expected = Sums(factory.seed).full([0, 1])
    assert target.make(5).full([0, 1]).tolist() == expected.tolist()


def test_a_subclass_of_the_protocol_needs_no_init() -> None:
    class Mine(Decoder):
        vocab_size = 8

        def full(self, tokens: Any) -> Any:
            return Sums().full(tokens)

        def new_cache(self) -> Any:
            return Sums().new_cache()

        def extend(self, tokens: Any, cache: Any) -> Any:
            return Sums().extend(tokens, cache)

    as_target(Mine, "mine").make(0).probe()


FORMS = (
    "expected reference, reference:NAME, fault:ID, package.module:factory, path/file.py:factory or "
    "hf:NAME"
)
HAS = "it has Mine, Settings, make, nothing, number, fails, exits, two, ready"
NOT_THERE: dict[str, str] = {
    **dict.fromkeys(("", ":", "mine.py", "mine.py:", ":make", "package", "Reference"), FORMS),
    **dict.fromkeys(("./mine:make", "package/inner:make", ".package:make"), FORMS),
    "nowhere.py:make": "no file nowhere.py; a file target is path/file.py:factory",
    "package.py:make": "no file package.py",
    "mine.py:build": f"mine.py has no 'build'; {HAS}",
    "package.inner:build": f"package.inner has no 'build'; {HAS}",
    "empty.py:make": "it has no functions or classes of its own",
    "nowhere.inner:make": "could not be imported: ModuleNotFoundError: No module named 'nowhere'",
    "package.outer:make": "ModuleNotFoundError: No module named 'package.outer'",
    "syntax.py:make": "syntax.py could not be loaded: SyntaxError: ",
    "imports.py:make": "No module named 'a_module_that_nobody_has' (imports.py:1)",
    "raises.py:make": "raises.py could not be loaded: RuntimeError: no GPU (raises.py:3)",
    "raises:make": "raises could not be imported: RuntimeError: no GPU (raises.py:3)",
    "exits.py:make": "exits.py could not be loaded: SystemExit: 4 (exits.py:2)",
    "mine.py:table": "mine.py:table is dict; expected a factory that takes a seed, or a decoder",
    "mine.py:two": "mine.py:two(1) raised TypeError: two() missing 1 required positional argument",
    "mine.py:nothing": "mine.py:nothing(1) returned None; expected a decoder",
    "mine.py:number": "int lacks vocab_size and full and new_cache and extend; a decoder has",
    "mine.py:fails": "mine.py:fails(1) raised OSError: no weights (mine.py:",
    "mine.py:exits": "mine.py:exits() raised SystemExit: no licence (mine.py:",
    "hf:nothing": (
        "unknown Hugging Face model type 'nothing'; expected one of its names"
        if importlib.util.find_spec("transformers")
        else "hf:nothing needs "
    ),
}


@pytest.mark.parametrize("name", NOT_THERE)
def test_what_is_wrong_with_a_target_is_said_in_one_line(name: str) -> None:
    with pytest.raises(TargetError) as caught:
        load_target(name).make(1)
    line = str(caught.value)
    assert NOT_THERE[name] in line
    assert "\n" not in line
    for inner in ("target.py", "importlib", "<frozen"):  # places that say nothing to a user
        assert inner not in line


def test_a_place_is_named_once_for_a_syntax_error() -> None:
    with pytest.raises(TargetError) as caught:
        load_target("syntax.py:make")
    assert str(caught.value).endswith("(syntax.py, line 1)")


@pytest.mark.parametrize("member", ["vocab_size", "dtype", "window"])
def test_a_property_that_raises_is_named_in_one_line(member: str) -> None:
    def fail(_: Any) -> Any:
        raise StopIteration("no parameters")

    broken = type("Broken", (Sums,), {member: property(fail)})
    for source in (broken, broken()):
        with pytest.raises(TargetError, match="Broken: reading its members raised StopIteration"):
            as_target(source, "Broken").make(0)


def test_an_error_of_ours_passes_through_a_factory_as_it_is() -> None:
    def refuse(seed: int) -> Any:
        raise CachecheckError(f"no decoder {seed}")

    with pytest.raises(CachecheckError, match=r"^no decoder 5$"):
        as_target(refuse, "refuse").make(5)


def test_a_wrong_declaration_of_a_ready_decoder_is_met_as_it_is_loaded() -> None:
    with pytest.raises(TargetError, match="window must be"):
        as_target(Altered(window=0), "ready")


def test_two_files_of_one_name_are_two_modules(folder: Path) -> None:
    first, second = load_target("mine.py:make"), load_target("other/mine.py:make")
    assert first.make(0).full([0]).tolist() == Sums(0).full([0]).tolist()
    assert second.make(0).full([0]).tolist() == Sums(7).full([0]).tolist()
    # A cache of the file's own class can be pickled: each class is found where it says.
    for name in ("mine.py", "other/mine.py"):
        module = load_target(f"{folder / name}:make")
        decoder = module.make(0)._decoder
        assert type(pickle.loads(pickle.dumps(decoder))) is type(decoder)  # noqa: S301 - our own
