"""Run the experiment and write its evidence folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from cachecheck.experiment.folder import (
    ARRAYS_FILE,
    HASHES_FILE,
    MANIFEST_FILE,
    RESULTS_FILE,
    TABLE_FILE,
    csv_bytes,
    hashes_bytes,
    json_bytes,
    new_folder,
    npz_bytes,
    write_file,
)
from cachecheck.experiment.protocol import ERRORS, SEEDS, Array, array_name, largest_difference
from cachecheck.experiment.provenance import manifest


def run(out: Path, *, progress: Callable[[str], None] | None = None) -> Path:
    """Run all three seeds and write the evidence folder, whole or not at all.

    The files are written and flushed in a folder ``.{name}.partial-...`` beside ``out``, which is
    renamed at the end. An exception or Ctrl-C removes it; a kill can leave it, and never leaves a
    half-written ``out``.

    Args:
        out: the new folder. Its parent must exist.
        progress: called with a short line before each step.

    Returns:
        ``out``.

    Raises:
        EvidenceError: ``out`` exists in any form (refused before any work), its parent does not,
            or the system refuses to write.
    """
    out = Path(out)
    report = progress if progress is not None else _silent
    with new_folder(out) as partial:
        arrays: dict[str, Array] = {}
        results = []
        for seed in SEEDS:
            report(f"seed {seed}")
            results.append(_one_seed(seed, arrays))
        report("writing")
        files = {
            ARRAYS_FILE: npz_bytes(arrays),
            RESULTS_FILE: json_bytes(results),
            TABLE_FILE: csv_bytes(results),
            MANIFEST_FILE: json_bytes(manifest()),
        }
        files[HASHES_FILE] = hashes_bytes(files)
        for name, data in files.items():
            write_file(partial / name, data)
    return out


def _one_seed(seed: int, arrays: dict[str, Array]) -> dict[str, Any]:
    """Add one seed's arrays to ``arrays`` and return its results."""
    # Here and not above: importing the audit must not import the decoder.
    from cachecheck.experiment.measure import measure  # noqa: PLC0415

    measured, counts = measure(seed)
    arrays.update({array_name(seed, name): array for name, array in measured.items()})
    errors = {key: largest_difference(arrays, seed, one) for key, one in ERRORS.items()}
    return {"seed": seed, **errors, **counts}


def _silent(_: str) -> None:
    pass
