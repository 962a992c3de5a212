"""The project of a stored failure follows from where the file lies, not from what it says."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cachecheck.errors import InputError
from cachecheck.replay.failure import FAILURE, Failure, replay_arguments
from cachecheck.replay.project import (
    import_from,
    import_paths_in,
    installed,
    place_of,
    roots_of,
)

STORE = "evidence/regressions"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Make a folder below an empty one; ``here`` below it is the working directory."""
    monkeypatch.setattr(sys, "path", sys.path.copy())
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def make(name: str) -> Path:
        path = tmp_path / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    return make


@pytest.mark.parametrize("mark", ["pyproject.toml", "setup.py", "pytest.ini", "tox.ini", ".git"])
def test_the_root_is_the_folder_with_the_marks_of_a_project(
    mark: str, folder: Callable[[str], Path]
) -> None:
    project = folder("project")
    (project / mark).touch()
    assert roots_of(folder(f"project/deep/{STORE}")) == [project, folder("here")]


def test_a_repository_is_the_project_whatever_settings_lie_inside(
    folder: Callable[[str], Path],
) -> None:
    (folder("whole") / ".git").mkdir()
    (folder("whole/part") / "pyproject.toml").touch()
    assert roots_of(folder(f"whole/part/{STORE}"))[0] == folder("whole")


def test_without_marks_the_root_holds_the_usual_folder_or_is_the_working_directory(
    folder: Callable[[str], Path],
) -> None:
    assert roots_of(folder(f"plain/{STORE}")) == [folder("plain"), folder("here")]
    assert roots_of(folder("plain/other")) == [folder("here")]
    assert roots_of(folder(f"here/{STORE}")) == [folder("here")]


def test_the_root_of_the_file_system_is_no_project_of_a_working_directory(
    folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = folder("plain/other")
    monkeypatch.chdir("/")
    assert roots_of(plain) == []


def test_a_file_is_named_from_the_root_whatever_the_working_directory(
    folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    project, store = folder("project"), folder(f"project/{STORE}")
    (project / "pytest.ini").touch()
    (folder("project/lib") / "mine.py").touch()
    names = (
        (project, "lib/mine.py:make"),
        (project / "lib", "mine.py:make"),
        (store, "../../lib/mine.py:make"),
        (folder("here"), f"{project}/lib/mine.py:make"),
    )
    for cwd, name in names:
        monkeypatch.chdir(cwd)
        place = place_of(name, store)
        assert (place.target, place.root) == ("lib/mine.py:make", project)
    outside = place_of(f"{folder('other')}/mine.py:make", store)
    assert (outside.target, outside.root) == (f"{folder('other')}/mine.py:make", None)


@pytest.mark.parametrize("target", ["reference", "reference:paged", "hf:llama", "fault:a", "os:x"])
def test_other_names_stay_as_they_are_and_need_no_project(
    target: str, folder: Callable[[str], Path]
) -> None:
    store = folder(STORE)
    assert (place_of(target, store).target, place_of(target, store).root) == (target, None)
    assert replay_arguments(Path("case.json"), target) == "case.json"


def test_what_is_typed_names_code_outside_and_can_be_pasted_into_a_shell(
    folder: Callable[[str], Path],
) -> None:
    here = folder("here")
    assert replay_arguments(here / "a b" / "case.json", "mine.py:make") == "'a b/case.json'"
    elsewhere = folder("other") / "mine.py"
    assert replay_arguments(here / "case.json", f"{elsewhere}:make") == (
        f"case.json --target {elsewhere}:make"
    )


def test_import_paths_are_the_folders_inside_the_project_and_come_back(
    folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    project, src = folder("project"), folder("project/src")
    packages = folder("project/.venv/lib/site-packages")
    entries = [str(src), str(packages), str(folder("other")), str(project), str(project / "gone")]
    monkeypatch.setattr(sys, "path", entries.copy())
    assert installed(packages)
    assert import_paths_in(project) == ("src", ".")
    monkeypatch.setattr(sys, "path", entries[2:3].copy())
    import_from(project, ("src", "."))
    assert sys.path == [str(src), str(project), str(folder("other"))]
    import_from(project, ("src", "."))
    assert sys.path.count(str(src)) == 1
    for outside in ("..", "/", "src/../.."):
        with pytest.raises(InputError, match=r"the import path .* lies outside the project"):
            import_from(project, (outside,))


NAMES = st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1, max_size=20)


@given(
    st.builds(
        Failure,
        target=NAMES,
        law=NAMES,
        kind=NAMES,
        decoder_seed=st.integers(0, 2**40),
        schedule=NAMES,
        tokens=st.lists(st.integers(0, 2**31), max_size=5).map(tuple),
        message=NAMES,
        import_paths=st.lists(NAMES, max_size=2).map(tuple),
    )
)
def test_a_failure_is_read_back_as_it_was_written(failure: Failure) -> None:
    assert FAILURE.decode(FAILURE.encode(failure), "it") == failure
