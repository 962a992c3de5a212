"""The five pictures: drawn from audited evidence, hashed, and drawn alike again.

Run with: pytest tests/test_experiment_figures.py. Skipped without matplotlib, all but the refusal.
"""

from __future__ import annotations

import importlib
import json
import shutil
import sys
from pathlib import Path

import pytest

from cachecheck.errors import EvidenceError
from cachecheck.experiment import audit, figures, plotting, run
from cachecheck.experiment.folder import FIGURE_FILES, FILES, HASHES_FILE, replace_file

pytestmark = pytest.mark.extras  # most of them need matplotlib


@pytest.fixture(scope="session")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(tmp_path_factory.mktemp("bare") / "evidence")


@pytest.fixture(scope="session")
def drawn(evidence: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("matplotlib")
    folder = Path(shutil.copytree(evidence, tmp_path_factory.mktemp("drawn") / "evidence"))
    assert figures(folder) == [folder / name for name in FIGURE_FILES]
    return folder


@pytest.fixture
def folder(drawn: Path, tmp_path: Path) -> Path:
    """A copy with figures, to tamper with."""
    return Path(shutil.copytree(drawn, tmp_path / "evidence"))


@pytest.fixture
def quick_pictures(drawn: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hands back the pictures already drawn: these tests are about files."""
    done = {name: (drawn / name).read_bytes() for name in FIGURE_FILES}
    pictures = importlib.import_module("cachecheck.experiment.pictures")
    monkeypatch.setattr(pictures, "draw", lambda *_: done)


def test_five_pictures_are_drawn_and_the_folder_still_passes(drawn: Path) -> None:
    assert audit(drawn) == []
    assert sorted(path.name for path in (drawn / "figures").iterdir()) == sorted(
        Path(name).name for name in FIGURE_FILES
    )
    listed = json.loads((drawn / HASHES_FILE).read_bytes())
    assert listed.keys() == {*FILES, *FIGURE_FILES} - {HASHES_FILE}


@pytest.mark.parametrize("name", FIGURE_FILES)
def test_a_picture_is_a_png_without_date_or_version(drawn: Path, name: str) -> None:
    data = (drawn / name).read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert b"tEXt" not in data
    assert b"matplotlib" not in data.lower()


def test_plotting_touches_only_figures_and_hashes(evidence: Path, drawn: Path) -> None:
    for name in set(FILES) - {HASHES_FILE}:
        assert (drawn / name).read_bytes() == (evidence / name).read_bytes()


def test_pyplot_is_not_imported_and_settings_do_not_matter(drawn: Path, folder: Path) -> None:
    import matplotlib as mpl

    before = {name: (drawn / name).read_bytes() for name in FIGURE_FILES}
    (folder / FIGURE_FILES[0]).write_bytes(b"damaged")
    with mpl.rc_context({"font.size": 30, "savefig.dpi": 20, "axes.facecolor": "red"}):
        figures(folder)
        assert mpl.rcParams["font.size"] == 30
    assert {name: (folder / name).read_bytes() for name in FIGURE_FILES} == before
    assert audit(folder) == []
    assert "matplotlib.pyplot" not in sys.modules


@pytest.mark.parametrize("name", FIGURE_FILES)
def test_a_changed_byte_of_a_picture_is_found(folder: Path, name: str) -> None:
    data = bytearray((folder / name).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / name).write_bytes(bytes(data))
    assert [(one.check, one.where) for one in audit(folder)] == [("hashes", name)]


def test_a_missing_and_a_foreign_picture_are_found(folder: Path) -> None:
    (folder / FIGURE_FILES[1]).rename(folder / "figures" / "more.png")
    found = {(one.check, one.where) for one in audit(folder)}
    assert found == {
        ("files", FIGURE_FILES[1]),
        ("hashes", FIGURE_FILES[1]),
        ("files", "figures/more.png"),
    }


@pytest.mark.usefixtures("quick_pictures")
def test_a_foreign_file_among_the_figures_is_refused_and_kept(folder: Path) -> None:
    (folder / "figures" / "more.png").touch()
    with pytest.raises(EvidenceError, match=r"more\.png is not a figure of ours"):
        figures(folder)
    assert (folder / "figures" / "more.png").exists()


@pytest.mark.usefixtures("quick_pictures")
def test_a_figures_folder_that_is_a_link_or_a_file_is_refused(folder: Path) -> None:
    shutil.move(folder / "figures", folder.parent / "elsewhere")
    (folder / "figures").symlink_to(folder.parent / "elsewhere")
    with pytest.raises(EvidenceError, match="is a link"):
        figures(folder)
    (folder / "figures").unlink()
    (folder / "figures").touch()
    with pytest.raises(EvidenceError, match="cannot use"):
        figures(folder)


@pytest.mark.usefixtures("quick_pictures")
@pytest.mark.parametrize("after", range(6))
def test_an_interrupted_call_is_seen_and_the_next_one_completes(
    evidence: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    folder = Path(shutil.copytree(evidence, tmp_path / "evidence"))
    real, calls = replace_file, iter(range(100))

    def killed(path: Path, data: bytes, scratch: Path) -> None:
        if next(calls) == after:  # as a kill would leave it: half a file under a passing name
            (scratch / f".{path.name}.partial-0").write_bytes(data[:10])
            raise KeyboardInterrupt
        real(path, data, scratch)

    with monkeypatch.context() as patch:
        patch.setattr(plotting, "replace_file", killed)
        with pytest.raises(KeyboardInterrupt):
            figures(folder)
    assert {one.check for one in audit(folder)} <= {"files", "hashes"}
    assert audit(folder) != []
    figures(folder)
    assert audit(folder) == []


def test_a_folder_that_fails_its_audit_is_not_drawn(evidence: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(evidence, tmp_path / "evidence"))
    (folder / "results.csv").write_bytes(b"")
    with pytest.raises(EvidenceError, match="fails its audit, nothing is drawn: hashes"):
        figures(folder)
    assert not (folder / "figures").exists()


def test_without_matplotlib_the_error_says_what_to_install(
    evidence: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(shutil.copytree(evidence, tmp_path / "evidence"))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(EvidenceError, match="pip install matplotlib"):
        figures(folder)
    assert audit(folder) == []


def test_no_folder_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="is not a folder"):
        figures(tmp_path / "nowhere")
