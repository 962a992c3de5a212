"""The printed replay line works in the project that it is printed in, however that is laid out.

Each project is written into an empty folder; pytest, and then the line that it prints, run as
processes of their own. ``python -P`` keeps the working directory off Python's path, as the
installed command does.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.test_cli_process import ROOT, environment

pytestmark = pytest.mark.slow

WRONG = (ROOT / "examples/forgotten_offset.py").read_text()
RIGHT = (ROOT / "examples/my_decoder.py").read_text()

HEAD = "import cachecheck\n"
TEST = """
@cachecheck.parametrize_with_laws({0}, laws=["schedule"])
def test_mine(law):
    law()
"""


@dataclass(frozen=True)
class Layout:
    """A project with one test of one broken decoder.

    Attributes:
        files: their texts, by path.
        decoder: path of the file that has the mistake.
        stored: the target that the stored failure names, and the folders it imports from.
        options: of pytest.
        cwd: where pytest is started.
    """

    files: dict[str, str]
    decoder: str
    stored: tuple[str, list[str]]
    options: tuple[str, ...] = ()
    cwd: str = "."


INI = {"pytest.ini": "[pytest]\n"}
LAYOUTS = {
    "pythonpath in the settings": Layout(
        {
            "pytest.ini": "[pytest]\npythonpath = lib\n",
            "lib/mine.py": "from wrong import MyDecoder as Base\nclass Mine(Base): pass\n",
            "lib/wrong.py": WRONG,
            "tests/test_mine.py": f"{HEAD}from mine import Mine\n{TEST.format('Mine')}",
        },
        "lib/wrong.py",
        ("lib/mine.py:Mine", ["tests", "lib"]),
    ),
    "src": Layout(
        {
            "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['src']\n",
            "src/pack/__init__.py": "",
            "src/pack/wrong.py": WRONG,
            "src/pack/mine.py": "from .wrong import MyDecoder\n\ndef make(seed):\n"
            "    return MyDecoder(seed)\n",
            "tests/test_mine.py": f"{HEAD}from pack.mine import make\n{TEST.format('make')}",
        },
        "src/pack/wrong.py",
        ("pack.mine:make", ["tests", "src"]),
    ),
    "in the test file": Layout(
        {**INI, "test_mine.py": f"{HEAD}{WRONG}{TEST.format('MyDecoder')}"},
        "test_mine.py",
        ("test_mine.py:MyDecoder", ["."]),
    ),
    "in the test file of a package": Layout(
        {
            **INI,
            "suite/__init__.py": "",
            "suite/wrong.py": WRONG,
            "suite/test_mine.py": f"{HEAD}from .wrong import MyDecoder\n"
            f"class Mine(MyDecoder): pass\n{TEST.format('Mine')}",
        },
        "suite/wrong.py",
        ("suite.test_mine:Mine", ["."]),
    ),
    "in a test file that pytest imports without touching the path": Layout(
        {
            **INI,
            "suite/test_mine.py": f"{HEAD}{WRONG}{TEST.format('MyDecoder')}",
        },
        "suite/test_mine.py",
        ("suite/test_mine.py:MyDecoder", []),
        options=("--import-mode=importlib",),
    ),
    "in a conftest": Layout(
        {
            **INI,
            "tests/conftest.py": WRONG,
            "tests/test_mine.py": f"{HEAD}from conftest import MyDecoder\n"
            f"{TEST.format('MyDecoder')}",
        },
        "tests/conftest.py",
        ("tests/conftest.py:MyDecoder", ["tests"]),
    ),
    "an object with a name": Layout(
        {
            **INI,
            "wrong.py": WRONG,
            "test_mine.py": f"{HEAD}from wrong import MyDecoder\n"
            f"READY = MyDecoder(7)\n{TEST.format('READY')}",
        },
        "wrong.py",
        ("test_mine.py:READY", ["."]),
    ),
    "a closure with a name": Layout(
        {
            **INI,
            "wrong.py": WRONG,
            "test_mine.py": f"{HEAD}from functools import partial\nfrom wrong import MyDecoder\n"
            f"make = partial(MyDecoder)\n{TEST.format('make')}",
        },
        "wrong.py",
        ("test_mine.py:make", ["."]),
    ),
    "started below the root folder": Layout(
        {
            **INI,
            "deep/down/test_mine.py": f"{HEAD}{WRONG}{TEST.format('MyDecoder')}",
        },
        "deep/down/test_mine.py",
        ("deep/down/test_mine.py:MyDecoder", ["deep/down"]),
        cwd="deep",
    ),
    "a folder without any settings": Layout(
        {"test_mine.py": f"{HEAD}{WRONG}{TEST.format('MyDecoder')}"},
        "test_mine.py",
        ("test_mine.py:MyDecoder", ["."]),
    ),
}


@dataclass(frozen=True)
class Ran:
    """What a process printed, and how it ended."""

    code: int
    out: str
    replays: list[str] = field(default_factory=list)


def run(folder: Path, *arguments: str) -> Ran:
    """``python -P -m`` in ``folder``; nothing may come out as an error."""
    ran = subprocess.run(
        [sys.executable, "-P", "-m", *arguments],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stderr == "", ran.stderr
    assert "Traceback" not in ran.stdout, ran.stdout
    printed = re.findall(r"^  replay +(.*)$", ran.stdout, re.MULTILINE)
    return Ran(ran.returncode, ran.stdout, printed)


def written(folder: Path, files: dict[str, str]) -> Path:
    """A project in ``folder``."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def failing(folder: Path, *options: str) -> Ran:
    """Run pytest in ``folder``; it must find the mistake."""
    plugin = ("-p", "cachecheck.pytest_plugin", "-p", "no:cacheprovider")
    ran = run(folder, "pytest", *plugin, "--cachecheck-examples=20", *options)
    assert ran.code == 1, ran.out
    assert "1 failed" in ran.out, ran.out
    return ran


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_printed_line_replays_where_it_was_printed_and_everywhere_else(
    name: str, tmp_path: Path
) -> None:
    layout = LAYOUTS[name]
    project = written(tmp_path / "a project", layout.files)
    (line,) = failing(project / layout.cwd, *layout.options).replays
    command, word, *arguments = shlex.split(line)
    assert (command, word) == ("cachecheck", "replay")
    (stored,) = (project / "evidence/regressions").iterdir()
    content = json.loads(stored.read_text())
    assert (content["target"], content["import_paths"]) == layout.stored
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    def replays() -> list[Ran]:
        return [
            run(project / layout.cwd, "cachecheck", "replay", *arguments),
            run(elsewhere, "cachecheck", "replay", str(stored)),
        ]

    for ran in replays():
        assert ran.code == 1, ran.out
        assert ran.out.startswith(f"FAILED  schedule on {layout.stored[0]}, schedule 1+1: ")
    wrong = project / layout.decoder
    wrong.write_text(wrong.read_text().replace(*mending()))
    for ran in replays():
        assert (ran.code, ran.out[:5]) == (0, "FIXED"), ran.out
    assert list(elsewhere.iterdir()) == []


def mending() -> tuple[str, str]:
    """The line with the mistake, and the right one."""
    pairs = zip(WRONG.splitlines(), RIGHT.splitlines(), strict=True)
    (pair,) = [(wrong, right) for wrong, right in pairs if "mask =" in wrong]
    return pair


@pytest.mark.parametrize(
    "decoder",
    [
        "lambda seed: MyDecoder(seed)",
        "MyDecoder(7)",
        "local()",
        "Outer.Inner",
        "partial(MyDecoder)",
    ],
)
def test_a_decoder_that_no_name_leads_to_has_no_line_but_a_reason(
    decoder: str, tmp_path: Path
) -> None:
    more = (
        "from functools import partial\n"
        "class Outer:\n    class Inner(MyDecoder): pass\n"
        "def local():\n    class Local(MyDecoder): pass\n    return Local\n"
    )
    files = {**INI, "test_mine.py": f"{HEAD}{WRONG}{more}{TEST.format(decoder)}"}
    ran = failing(written(tmp_path, files))
    (reason,) = ran.replays
    assert reason.startswith(
        "not stored, since no name at the top level of a module leads to this "
    )
    assert not (tmp_path / "evidence").exists()


def test_code_outside_the_project_is_run_only_where_the_line_names_it(tmp_path: Path) -> None:
    """As printed by pytest and by the command."""
    outside = written(tmp_path / "outside", {"wrong.py": WRONG}) / "wrong.py"
    path = f"import sys; sys.path.insert(0, {str(outside.parent)!r})\n"
    test = f"{HEAD}{path}from wrong import MyDecoder\n{TEST.format('MyDecoder')}"
    project = written(tmp_path / "project", {**INI, "test_mine.py": test})
    (line,) = failing(project).replays
    fuzzed = run(
        project,
        *("cachecheck", "fuzz", f"{outside}:MyDecoder", "--law", "schedule", "--examples", "20"),
    )
    assert fuzzed.code == 1
    for printed in (line, *fuzzed.replays):
        _, _, stored, *named = shlex.split(printed)
        assert named == ["--target", f"{outside}:MyDecoder"]
        refused = run(project, "cachecheck", "replay", stored)
        assert refused.code == 2
        assert refused.out.startswith(f"ERROR  {outside} lies outside the project ({project})")
        assert "--target" in refused.out
        assert refused.out.count("\n") == 1
        trusted = run(project, "cachecheck", "replay", stored, *named)
        assert trusted.code == 1
        assert trusted.out.startswith(f"FAILED  schedule on {outside}:MyDecoder, schedule 1+1")


def test_a_stored_file_from_elsewhere_is_tried_on_the_project_that_one_is_in(
    tmp_path: Path,
) -> None:
    """As one downloads it from a build; it cannot choose its project by what it says."""
    files = {**INI, "test_mine.py": f"{HEAD}{WRONG}{TEST.format('MyDecoder')}"}
    project = written(tmp_path / "project", files)
    failing(project)
    (stored,) = (project / "evidence/regressions").iterdir()
    downloads = tmp_path / "downloads"
    downloads.mkdir()
    moved = stored.rename(downloads / "case.json")
    assert run(project, "cachecheck", "replay", str(moved)).code == 1
    missing = run(downloads, "cachecheck", "replay", "case.json")
    assert (missing.code, missing.out.count("\n")) == (2, 1)
    assert f"no file test_mine.py in {downloads}" in missing.out
    for target in ("../project/test_mine.py:MyDecoder", f"{project}/test_mine.py:MyDecoder"):
        content = json.loads(moved.read_text())
        moved.write_text(json.dumps(content | {"target": target, "root": "..", "project": "/"}))
        refused = run(downloads, "cachecheck", "replay", "case.json")
        assert refused.code == 2
        assert " lies outside the project (" in refused.out


@pytest.mark.parametrize("target", ["mine.py:MyDecoder", "mine:MyDecoder"])
def test_what_the_command_stores_replays_in_any_working_directory(
    target: str, tmp_path: Path
) -> None:
    project = written(tmp_path / "project", {"mine.py": WRONG})
    ran = run(project, "cachecheck", "fuzz", target, "--law", "schedule", "--examples", "20")
    (line,) = ran.replays
    stored = project / shlex.split(line)[2]
    for folder in (project, tmp_path, Path("/")):
        again = run(folder, "cachecheck", "replay", str(stored))
        assert (again.code, again.out.split()[0]) == (1, "FAILED"), again.out
