"""The pages under docs/ are true, lead somewhere, and build.

Building the site needs the extra `docs`; the other tests need nothing.
"""

from __future__ import annotations

import argparse
import ast
import functools
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks.pages import pictures, readme
from benchmarks.pages.outputs import ROOT, output_of
from cachecheck import pytest_plugin
from cachecheck.cli import _parser
from cachecheck.report.markdown import PLACE, filled, table, tables
from tests.test_readme import settled, shown_outputs

DOCS = ROOT / "docs"
PAGES = readme.PAGES
TEXTS = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in PAGES}
AGAIN = "run python -m benchmarks.pages.readme"


@functools.cache
def parts() -> dict[str, str]:
    """Every generated part: some seconds to make."""
    return tables() | readme.measured()


by_page = pytest.mark.parametrize("name", TEXTS)


# What is generated is current.


@by_page
def test_tables_and_listings_are_current(name: str) -> None:
    text = TEXTS[name]
    assert readme.with_files(filled(text, parts())) == text, AGAIN


def test_every_generated_part_has_its_place_and_every_place_its_part() -> None:
    places = [match[2] for text in TEXTS.values() for match in PLACE.finditer(text)]
    assert sorted(places) == sorted(parts())
    marked = sum(text.count(": generated -->") for text in TEXTS.values())
    assert marked == len(places), "a place without its end"


def test_a_part_out_of_date_is_brought_up_to_date_and_the_rest_is_left() -> None:
    page = (
        "a\n<!-- one: generated -->\nold\n<!-- end -->\nb\n<!-- two: generated -->\n<!-- end -->\n"
    )
    assert filled(page, {"one": "new"}) == page.replace("old", "new")
    both = filled(page, {"one": "1", "two": "2"})
    assert both == page.replace("old", "1").replace(
        "two: generated -->\n", "two: generated -->\n2\n"
    )
    assert filled(both, {"one": "1", "two": "2"}) == both


def test_a_table_has_as_many_cells_in_every_row() -> None:
    for name, part in parts().items():
        rows = [line for line in part.splitlines() if line.startswith("| ")]
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) <= 1, name
    assert table(["a", "b"], [["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"


SHOWN = [
    (name, command)
    for name, text in TEXTS.items()
    for command in shown_outputs(text)
    if command.startswith("cachecheck ") and name != "README.md"
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "command"), SHOWN)
def test_outputs_are_what_the_commands_print(name: str, command: str) -> None:
    shown = settled(shown_outputs(TEXTS[name])[command])
    assert shown.strip()
    assert settled(output_of(command)) == shown, AGAIN


def test_the_last_lines_of_an_output_are_its_last_lines() -> None:
    whole = output_of("cachecheck faults copying-blind")
    assert output_of("cachecheck faults copying-blind | tail -n 2") == "".join(
        whole.splitlines(keepends=True)[-2:]
    )


def test_a_command_that_cannot_run_is_no_output() -> None:
    with pytest.raises(RuntimeError, match="unknown fault 'zebra'"):
        output_of("cachecheck faults zebra")


# Pictures.


def texts(svg: str) -> str:
    """What a picture says, from left to right and top to bottom."""
    return " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", svg)).replace("&#160;", " ")


@pytest.mark.slow
def test_the_picture_of_a_failure_is_what_the_command_shows() -> None:
    kept = (DOCS / "images" / "failure.svg").read_text(encoding="utf-8")
    assert "VIOLATED" in texts(kept)
    assert settled(texts(kept)) == settled(texts(pictures.failure())), AGAIN


def test_the_picture_of_masks_is_what_the_examples_compute() -> None:
    kept = (DOCS / "images" / "masks.svg").read_text(encoding="utf-8")
    assert kept == pictures.masks(), AGAIN
    assert pictures.mask_of("my_decoder.py").tolist() == [[True] * 4 + [False], [True] * 5]
    assert pictures.mask_of("forgotten_offset.py").sum() == 3


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_a_picture_brings_all_that_it_needs(name: str) -> None:
    svg = (DOCS / "images" / name).read_text(encoding="utf-8")
    assert re.findall(r"https?://[^\"<) ]+", svg) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"<script|@font-face|@import|href", svg)
    assert '<rect width="' in svg, "a background of its own: dark pages have dark text unreadable"


# What is said of messages and options.


def test_the_causes_of_inconclusive_are_in_the_words_of_the_report() -> None:
    section = TEXTS["README.md"].split("## My verdict is X")[1].split("\n## ")[0]
    named = re.findall(r"^\|.*?\*\*(.+?)\*\*", section, re.MULTILINE)
    named += re.findall(r"or \*\*(.+?)\*\* \|", section)
    assert len(named) >= 6
    said = "\n".join(sentences())
    for words in named:
        assert words in said, f"no message of the package says {words!r}"


def sentences() -> list[str]:
    """Every text in the package's code, with its values left out."""
    found = []
    for path in (ROOT / "cachecheck").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [one.value if isinstance(one, ast.Constant) else "" for one in node.values]
                found.append("".join(map(str, parts)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return found


FOREIGN = {"--git", "--global", "--strict", "--hypothesis-profile"}
"""Of git, mkdocs and Hypothesis."""


def options() -> set[str]:
    """Every option of the command and of the plugin."""
    found: set[str] = set()
    waiting = [_parser()]
    while waiting:
        for action in waiting.pop()._actions:
            found.update(action.option_strings)
            if isinstance(action, argparse._SubParsersAction):
                waiting += action.choices.values()
    parser = pytest.Parser(_ispytest=True)
    pytest_plugin.pytest_addoption(parser)
    return found | {
        name for option in parser.getgroup("cachecheck").options for name in option.names()
    }


def test_every_option_that_is_spoken_of_is_there() -> None:
    spoken = {
        name
        for page, text in TEXTS.items()
        if page != "docs/log.md"  # what was true on its day
        for name in re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)
    }
    assert spoken - FOREIGN - options() == set()


# Links.


@by_page
def test_links_lead_to_files_of_the_project(name: str) -> None:
    page = ROOT / name
    for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", TEXTS[name]):
        assert (page.parent / link).exists(), f"{name}: {link}"


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]
    listed = re.findall(r": (\S+\.md)$", navigation, re.MULTILINE)
    pages = [page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")]
    assert set(pages) <= set(listed)
    assert len(listed) == len(set(listed))


# The site.


@pytest.fixture(scope="module")
def hook() -> SimpleNamespace:
    pytest.importorskip("mkdocs", reason="needs the extra: docs")
    from benchmarks.pages import site

    return SimpleNamespace(lead=site.on_page_markdown)


def page_of(path: Path, uri: str) -> SimpleNamespace:
    return SimpleNamespace(file=SimpleNamespace(abs_src_path=str(path), src_uri=uri))


@pytest.mark.extras
def test_links_between_files_become_links_between_pages(hook: SimpleNamespace) -> None:
    laws, front = page_of(DOCS / "laws.md", "laws.md"), page_of(ROOT / "README.md", "README.md")
    evidence = page_of(ROOT / "evidence" / "README.md", "evidence/README.md")
    strategies = page_of(DOCS / "api" / "strategies.md", "api/strategies.md")
    files = [one.file for one in (laws, front, evidence, strategies)]

    def led(page: SimpleNamespace, text: str) -> str:
        return str(hook.lead(text, page, None, files))

    assert led(front, "[a](docs/laws.md#crop)") == "[a](laws.md#crop)"
    assert led(laws, "[a](../evidence/README.md#b)") == "[a](evidence/README.md#b)"
    assert led(laws, "![a](../README.md)") == "![a](README.md)"
    assert led(evidence, "[a](../docs/laws.md)") == "[a](../laws.md)"
    assert led(strategies, "[a](../laws.md)") == "[a](../laws.md)"
    # In the repository and not on the site; nowhere; elsewhere; on this page.
    assert led(laws, "[a b](../tests) c") == "a b c"
    for left in ("[a](nowhere.md)", "[a](https://b.example/c)", "[a](#b)"):
        assert led(laws, left) == left


@pytest.mark.extras
def test_code_blocks_of_docstrings_are_fenced() -> None:
    pytest.importorskip("griffe", reason="needs the extra: docs")
    from benchmarks.pages.docstrings import fenced

    text = "A.\n\n.. code-block:: pycon\n\n    >>> f(\n    ...     1)\n\n    2\n\nB."
    assert fenced(text) == "A.\n\n```pycon\n>>> f(\n...     1)\n\n2\n```\n\nB."
    assert fenced(text.removesuffix("\n\nB.")).endswith("2\n```")
    assert fenced("A `b`.") == "A `b`."


def build(folder: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """The one command, in a checkout at ``folder``."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)],
        cwd=folder,
        env={"PATH": "", "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs", reason="needs the extra: docs")
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT, folder)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


@pytest.mark.extras
@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_has_all_pages(site: Path) -> None:
    for page in DOCS.rglob("*.md"):
        assert (site / page.relative_to(DOCS).with_suffix(".html")).exists(), page
    for name in ("index.html", "ARCHITECTURE.html", "evidence/index.html", "images/failure.svg"):
        assert (site / name).exists(), name


@pytest.mark.extras
@pytest.mark.slow
def test_the_reference_has_the_public_names_with_their_docstrings(site: Path) -> None:
    from cachecheck import __all__ as names
    from cachecheck.strategies import __all__ as strategies

    package = (site / "api" / "cachecheck.html").read_text(encoding="utf-8")
    drawn = (site / "api" / "strategies.html").read_text(encoding="utf-8")
    for name in names:
        assert name.startswith("_") or f'id="cachecheck.{name}"' in package, name
    for name in strategies:
        # A function that is called as its module is hides behind it, and has a line of its own.
        anchors = [f'id="cachecheck.strategies.{at}"' for at in (name, f"{name}.{name}")]
        assert name == "CacheMachine" or any(anchor in drawn for anchor in anchors), name
    assert "shrink towards" in drawn
    assert "code-block" not in drawn


@pytest.mark.extras
@pytest.mark.slow
def test_the_site_fetches_nothing_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        fetched = re.findall(
            r"<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=\"?(https?:[^\" >]*)", text
        )
        assert fetched == [], page.name
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?https?:", sheet.read_text(encoding="utf-8")), sheet.name


@pytest.mark.extras
@pytest.mark.slow
def test_a_broken_link_anchor_or_place_in_the_navigation_fails_the_build(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="needs the extra: docs")
    copy = tmp_path / "checkout"
    ignored = shutil.ignore_patterns(".*", "__pycache__", "site", "*.json", "tests")
    shutil.copytree(ROOT, copy, symlinks=True, ignore=ignored)
    spoil: dict[str, Callable[[], object]] = {
        "nowhere.md": lambda: append(copy / "docs" / "faq.md", "\n[a](nowhere.md)\n"),
        "#no-such-heading": lambda: append(
            copy / "README.md", "\n[a](docs/faq.md#no-such-heading)\n"
        ),
        "unlisted.md": lambda: (copy / "docs" / "unlisted.md").write_text("# Unlisted\n"),
    }
    for change in spoil.values():
        change()
    done = build(copy, tmp_path / "site")
    assert done.returncode != 0
    for said in spoil:
        assert any(
            said in line for line in done.stderr.splitlines() if "WARNING" in line or "  -" in line
        ), said


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")
