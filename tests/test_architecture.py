"""Imports run downward, heavy packages stay in their rooms, files and functions stay small."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "cachecheck"

# Which room may import which. A room is a module of the package, or a folder of it.
ARROWS: dict[str, set[str]] = {
    "": {"errors"},
    "__main__": {"cli"},
    "certify": {"errors", "guard", "judge", "laws", "schedule", "tolerance", "verdict"},
    "cli": {"", "commands", "engines", "errors", "experiment", "faults", "schedule"},
    "commands": {
        *("certify", "engines", "errors", "faults", "files", "guard", "judge", "laws"),
        *("pytest_plugin", "replay", "report", "schedule", "session", "shrink", "target"),
        *("verdict", "zoo"),
    },
    "engines": {"errors", "files", "protocol"},
    "errors": set(),
    "experiment": {"", "errors", "reference"},
    "faults": {"errors", "reference"},
    "files": {"errors"},
    "guard": {"errors", "members", "protocol", "tolerance"},
    "judge": {"errors", "guard", "laws", "schedule", "shrink", "tolerance", "verdict"},
    "laws": {"errors", "guard", "members", "schedule", "tolerance", "verdict"},
    "members": set(),
    "protocol": {"errors", "members", "tolerance"},
    "pytest_plugin": set(),
    "reference": {"errors"},
    "replay": {"errors", "files", "judge", "laws", "schedule", "target", "verdict"},
    "report": {
        *("", "certify", "engines", "errors", "faults", "laws", "members", "reference"),
        *("schedule", "verdict", "zoo"),
    },
    "schedule": {"errors"},
    "search": {
        *("errors", "guard", "judge", "laws", "schedule", "shrink", "strategies", "target"),
        *("verdict",),
    },
    "session": {
        *("errors", "files", "guard", "judge", "laws", "pytest_plugin", "replay", "report"),
        *("schedule", "search", "shrink", "target", "verdict"),
    },
    "shrink": {"errors", "schedule"},
    "strategies": {
        *("errors", "guard", "judge", "laws", "reference", "schedule", "target", "verdict"),
    },
    "target": {"engines", "errors", "faults", "guard", "protocol", "reference"},
    "tolerance": {"errors"},
    "verdict": set(),
    "zoo": {"engines", "errors", "files", "laws", "search", "target", "verdict"},
}

# Who may import what is slow, or not everybody's.
GUESTS = {
    "hypothesis": {"search", "strategies"},
    "torch": {"engines"},
    "transformers": {"engines"},
    "matplotlib": {"experiment"},
    "rich": {"report", "cli", "commands"},
    "pytest": {"pytest_plugin", "session", "commands"},
}

QUESTION_WORDS = {"what", "how", "whether", "why", "where", "who", "which"}

FILE_LINES, FUNCTION_LINES = 250, 50
LONGER: dict[str, str] = {}  # name: why


def source_files() -> list[Path]:
    """Every file of the package; the strategies through their link."""
    return sorted([*PACKAGE.rglob("*.py"), *(PACKAGE / "strategies").glob("*.py")])


def room_of(path: Path) -> str:
    """The room a file belongs to."""
    first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports anywhere, type checking aside."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            skipped.update(child for part in node.body for child in ast.walk(part))
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: imports are absolute"
            if node.module == "cachecheck":
                yield from (f"cachecheck.{alias.name}" for alias in node.names)
            else:
                yield node.module


def arrows() -> dict[str, set[str]]:
    """For each room, the rooms that it imports."""
    found: dict[str, set[str]] = {}
    for path in source_files():
        here = found.setdefault(room_of(path), set())
        for module in imports(path):
            parts = module.split(".")
            if parts[0] == "cachecheck":
                there = parts[1] if len(parts) > 1 else ""
                here.add("" if there.startswith("__") else there)
        here.discard(room_of(path))
    return found


def test_imports_run_along_the_arrows_and_every_arrow_is_used() -> None:
    assert arrows() == ARROWS


def test_the_arrows_have_no_cycle() -> None:
    remaining = {room: set(there) for room, there in ARROWS.items()}
    while remaining:
        free = {room for room, there in remaining.items() if not there & set(remaining)}
        assert free, f"a cycle among {sorted(remaining)}"
        remaining = {room: there for room, there in remaining.items() if room not in free}


@pytest.mark.parametrize("guest", GUESTS)
def test_heavy_packages_stay_in_their_rooms(guest: str) -> None:
    hosts = {
        room_of(path)
        for path in source_files()
        if any(module.split(".")[0] == guest for module in imports(path))
    }
    assert hosts == GUESTS[guest]


@pytest.mark.parametrize("path", source_files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_files_and_functions_stay_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    name = str(path.relative_to(PACKAGE))
    lines = len(text.splitlines())
    assert lines <= FILE_LINES or name in LONGER, f"{lines} lines: split it, or say why not"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            body = node.end_lineno - node.lineno + 1 if node.end_lineno else 0
            docstring = len((ast.get_docstring(node) or "").splitlines())
            assert body - docstring <= FUNCTION_LINES, f"{node.name} has {body - docstring} lines"


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """The line and text of each docstring of a file: of definitions, and below constants."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in node.body:
                match statement:
                    case ast.Expr(value=ast.Constant(value=str(text))):
                        yield statement.lineno, text


def test_docstrings_open_with_what_a_thing_does_or_is() -> None:
    questions = [
        f"{path.relative_to(PACKAGE)}:{line}: {text.strip().splitlines()[0]}"
        for path in source_files()
        for line, text in docstrings(path)
        if QUESTION_WORDS & {word.lower() for word in re.findall(r"[A-Za-z]+", text)[:1]}
    ]
    assert not questions, "\n".join(["say what it does or is:", *questions])


def test_exemptions_are_still_needed() -> None:
    for name in LONGER:
        assert len((PACKAGE / name).read_text(encoding="utf-8").splitlines()) > FILE_LINES


def test_few_modules_stand_loose_beside_the_rooms() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= 12
