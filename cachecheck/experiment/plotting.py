"""Add the figures to an evidence folder, and to its list of hashes."""

from __future__ import annotations

import json
from pathlib import Path

from cachecheck.errors import EvidenceError
from cachecheck.experiment.auditing import audit_without_figures
from cachecheck.experiment.folder import (
    ARRAYS_FILE,
    FIGURE_FILES,
    FIGURES_FOLDER,
    HASHES_FILE,
    RESULTS_FILE,
    hashes_bytes,
    replace_file,
)
from cachecheck.experiment.reading import parse_arrays


def figures(folder: Path) -> list[Path]:
    """Draw the five figures of an evidence folder that passes its audit.

    Files are replaced one by one, the list of hashes last. Killed in between, the folder fails
    its audit until this is called again; the evidence itself is never touched.

    Args:
        folder: what `run` wrote, with or without figures; old figures may be damaged.

    Returns:
        The pictures' paths, ``folder/figures/*.png``. The same matplotlib gives the same bytes.

    Raises:
        EvidenceError: no such folder, it fails its audit, ``figures`` holds something foreign,
            matplotlib is not installed, or the system refuses to write.
    """
    folder = Path(folder)
    files, problems = audit_without_figures(folder)
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise EvidenceError(f"{folder} fails its audit, nothing is drawn: {problems[0]}{more}")
    _need_matplotlib()
    # Here and not above: only figures may need matplotlib.
    from cachecheck.experiment import pictures  # noqa: PLC0415

    arrays, _ = parse_arrays(files[ARRAYS_FILE])
    drawn = pictures.draw(arrays, json.loads(files[RESULTS_FILE]))
    target = _prepare(folder / FIGURES_FOLDER)
    for name, data in drawn.items():
        replace_file(folder / name, data, target)
    replace_file(folder / HASHES_FILE, hashes_bytes(files | drawn), target)
    return [folder / name for name in FIGURE_FILES]


def _need_matplotlib() -> None:
    try:
        import matplotlib as mpl  # noqa: F401, PLC0415
    except ImportError as error:
        raise EvidenceError(
            "figures need matplotlib; install it with: pip install matplotlib"
        ) from error


def _prepare(target: Path) -> Path:
    """The figures folder, made if need be and cleared of what a killed call left behind."""
    expected = {Path(name).name for name in FIGURE_FILES}
    try:
        target.mkdir(exist_ok=True)
        if target.is_symlink():
            raise EvidenceError(f"{target} is a link; the figures must lie in the folder itself")
        for path in target.iterdir():
            if path.is_file() and path.name.startswith(".") and ".partial-" in path.name:
                path.unlink()
            elif path.name not in expected or not path.is_file():
                raise EvidenceError(f"{path} is not a figure of ours; move it away first")
    except OSError as error:
        raise EvidenceError(f"cannot use {target}: {error.strerror or error}") from error
    return target
