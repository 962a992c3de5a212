"""The registry of engines: its entries are true, load nothing, and are all that a new one takes.

Run alone: python -m pytest tests/test_engines_registry.py
"""

from __future__ import annotations

import importlib.util
import pickle
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from pkgutil import resolve_name

import pytest

from cachecheck.cli import main
from cachecheck.engines import registry
from cachecheck.engines.engine import Engine, Zoo, decoder_name
from cachecheck.engines.known_failures import load_ledger
from cachecheck.engines.registry import ENGINES, engine_named, engine_with_prefix
from cachecheck.errors import InputError, TargetError
from cachecheck.laws import LAWS
from cachecheck.target import load_target
from cachecheck.zoo.cells import Cell
from cachecheck.zoo.matrix import read_matrix
from tests.engine_for_tests import PRETENDED


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The pretended engine, with one entry in the registry."""
    monkeypatch.setattr(registry, "ENGINES", (*ENGINES, PRETENDED))
    return PRETENDED


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_an_entry_names_code_and_a_ledger_that_are_there(engine: Engine) -> None:
    for place in filter(None, (engine.factory, engine.zoo)):
        assert importlib.util.find_spec(place.partition(":")[0]), place
    assert engine.prefix.isidentifier()
    assert load_ledger(engine.name).entries or not engine.known_failures


@pytest.mark.extras
@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_an_entry_whose_libraries_are_there_gives_its_zoo(engine: Engine) -> None:
    for library in engine.libraries:
        pytest.importorskip(library, reason=f"the engine {engine.name} needs it")
    zoo = engine.load_zoo()
    assert zoo.architectures
    assert len({variant.id for variant in zoo.variants}) == len(zoo.variants)
    assert {law for variant in zoo.variants for law in variant.laws} <= set(LAWS)
    assert not zoo.variants[0].laws, "the usual variant is under every law"
    assert all(map(resolve_name, zoo.preload))
    engine.decoder_factory(decoder_name(zoo.architectures[0], zoo.variants[-1].id))


def test_names_and_prefixes_are_of_one_engine_and_of_no_other_target() -> None:
    counts = Counter([*(one.name for one in ENGINES), "reference", "fault"])
    counts.update(one.prefix for one in ENGINES if one.prefix != one.name)
    assert set(counts.values()) == {1}


def test_an_entry_travels_to_another_process_as_it_is() -> None:
    assert [pickle.loads(pickle.dumps(one)) for one in ENGINES] == list(ENGINES)  # noqa: S301


def test_the_registry_and_the_zoos_command_load_no_library() -> None:
    program = (
        "import sys\n"
        "import cachecheck.engines.registry\n"
        "light = {'numpy', 'msgspec', 'torch', 'transformers'} & set(sys.modules)\n"
        "import cachecheck.engines.known_failures, cachecheck.commands.zoo\n"
        "print(sorted(light), sorted({'torch', 'transformers'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[] []"


def test_an_engine_is_found_by_its_name_and_by_its_prefix(pretended: Engine) -> None:
    assert engine_named("pretended") is engine_with_prefix("pretend") is pretended
    assert engine_with_prefix("pretended") is None
    with pytest.raises(InputError, match=r"no engine 'pretend'; known: .*, pretended$"):
        engine_named("pretend")


@pytest.mark.usefixtures("pretended")
def test_one_entry_makes_targets_of_an_engines_decoders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert load_target("pretend:sums").make(3).full([1]).shape == (1, 4)
    with pytest.raises(TargetError, match="unknown name 'sum'; known: forgets, raises, sums"):
        load_target("pretend:sum")
    with pytest.raises(TargetError, match=r"factory or hf:NAME .*or pretend:NAME$"):
        load_target("pretend")
    options = ["--law", "schedule", "--examples", "20", "--save", str(tmp_path)]
    assert main(["fuzz", "pretend:sums", *options]) == 0
    assert main(["fuzz", "pretend:forgets", *options]) == 1
    assert "pretend:forgets" in capsys.readouterr().out


@pytest.mark.usefixtures("pretended")
def test_one_entry_makes_a_zoo_of_an_engines_architectures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["zoo", "pretended", "--laws", "schedule,prefix", "--out", str(tmp_path)]) == 2
    printed = capsys.readouterr().out
    assert "KNOWN  forgets-offset (bug): a chunk of two tokens or more onto history" in printed
    assert "ERROR  pretend:raises/plain schedule  schedule 3; " in printed
    found = read_matrix(tmp_path / "pretended.json")
    assert not found.whole, "laws were left out"
    assert found.versions["numpy"] == version("numpy")
    assert "no-such-package" not in found.versions
    assert [(*place(cell), cell.answer) for cell in found.cells if cell.law == "schedule"] == [
        ("forgets", "plain", "schedule", "VIOLATED"),
        ("forgets", "doubled", "schedule", "VIOLATED"),
        ("raises", "plain", "schedule", "ERROR"),
        ("raises", "doubled", "schedule", "ERROR"),
        ("sums", "plain", "schedule", "HOLDS"),
        ("sums", "doubled", "schedule", "HOLDS"),
    ]
    prefix = {cell.variant for cell in found.cells if cell.law == "prefix"}
    assert prefix == {"plain"}, "the variant names no such law"
    assert "| forgets | + | VIOLATED plain `1+2` forgets-offset |" in (
        (tmp_path / "pretended.md").read_text()
    )


def test_an_engine_without_variants_has_targets_without_a_slash(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = replace(PRETENDED, zoo="tests.engine_for_tests:zoo_without_variants", known_failures="")
    monkeypatch.setattr(registry, "ENGINES", (alone,))
    assert main(["zoo", "pretended", "--laws", "schedule", "--out", str(tmp_path)]) == 1
    assert "VIOLATED  pretend:forgets schedule  schedule 1+2; " in capsys.readouterr().out
    assert "| forgets | VIOLATED `1+2` |" in (tmp_path / "pretended.md").read_text()


def test_an_engine_without_a_zoo_is_no_choice_of_the_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    without = replace(PRETENDED, zoo="")
    monkeypatch.setattr(registry, "ENGINES", (without, *ENGINES))
    with pytest.raises(SystemExit):
        main(["zoo", "pretended"])
    choices = ", ".join(repr(one.name) for one in ENGINES if one.zoo)
    assert f"choose from {choices}" in capsys.readouterr().err
    with pytest.raises(InputError, match="pretended has no zoo; check one decoder: pretend:NAME"):
        without.load_zoo()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"libraries": ("no_such_library", "numpy")}, "needs no_such_library, not installed here"),
        ({"libraries": ("no_such_library",)}, "pip install no_such_library"),
        ({"factory": "tests.no_such_module:make"}, "needs numpy, installed here, and importing"),
        ({"factory": "tests.no_such_module:make"}, "No module named 'tests.no_such_module'"),
    ],
)
def test_what_an_engine_lacks_is_said_in_one_line(changes: dict[str, object], said: str) -> None:
    engine = replace(PRETENDED, **changes)  # type: ignore[arg-type] # drawn by name
    for ask in (lambda: engine.decoder_factory("sums"), engine.load_zoo):
        with pytest.raises(TargetError) as caught:
            ask()
        assert said in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_zoo_that_names_no_variants_has_one_that_concerns_every_law() -> None:
    (variant,) = Zoo(("sums",)).variants
    assert all(map(variant.concerns, LAWS))
    assert decoder_name("sums", variant.id) == "sums"


def place(cell: Cell) -> tuple[str, str, str]:
    return cell.architecture, cell.variant, cell.law
