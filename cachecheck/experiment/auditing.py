"""The audit of an evidence folder, from its own files alone. It never imports the decoder.

Found: any changed byte, by the hashes, or by the canonical form of the file of hashes itself; and
in a forgery that brings the hashes up to date, all that the arrays contradict, since every
reported number is recomputed. Not found, if the hashes follow: rows of a negative control changed
where they do not decide its error, the unmasked pair changed together with its result, later rows
of `masked`, probabilities shifted within a row. Only the decoder could tell: run the experiment
again and compare.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from cachecheck.experiment import numbers, record
from cachecheck.experiment.folder import (
    ARRAYS_FILE,
    FIGURES_FOLDER,
    HASHES_FILE,
    MANIFEST_FILE,
    RESULTS_FILE,
    TABLE_FILE,
)
from cachecheck.experiment.problem import Problem
from cachecheck.experiment.protocol import Array
from cachecheck.experiment.reading import parse_arrays, parse_json, read_folder


def audit(folder: Path) -> list[Problem]:
    """Check an evidence folder from its files and closed forms alone.

    Damaged or hostile content makes problems, never a traceback. Figures are held to their
    hashes: nothing is drawn.

    Args:
        folder: what `run` wrote, with or without figures.

    Returns:
        All problems found; empty if the folder passes.

    Raises:
        EvidenceError: there is no such folder, or it may not be listed.
    """
    files, problems = read_folder(Path(folder))
    return problems + examine(files)


def audit_without_figures(folder: Path) -> tuple[dict[str, bytes], list[Problem]]:
    """The files of a folder and their problems, those of the figures folder left out."""
    prefix = f"{FIGURES_FOLDER}/"
    files, problems = read_folder(folder)
    files = {name: data for name, data in files.items() if not name.startswith(prefix)}
    problems = problems + examine(files)
    ours = [one for one in problems if not f"{one.where}/".startswith(prefix)]
    return files, ours


def examine(files: Mapping[str, bytes]) -> list[Problem]:
    """Problems of the contents, by relative posix path; absent files are not reported here."""
    problems: list[Problem] = []
    values: dict[str, Any] = {}
    for name in (HASHES_FILE, MANIFEST_FILE, RESULTS_FILE):
        if name in files:
            values[name], found = parse_json(name, files[name])
            problems += found
    if HASHES_FILE in values:
        problems += record.check_hashes(files, values[HASHES_FILE])
    if MANIFEST_FILE in values:
        problems += record.check_manifest(values[MANIFEST_FILE])
    if RESULTS_FILE in values:
        problems += _results(files, values[RESULTS_FILE])
    if ARRAYS_FILE in files:
        arrays, found = parse_arrays(files[ARRAYS_FILE])
        problems += found
        problems += _arrays(arrays, values.get(RESULTS_FILE))
    return problems


def _results(files: Mapping[str, bytes], value: Any) -> list[Problem]:
    problems = list(record.check_results(value))
    well_formed = not problems
    problems += numbers.check_counts(record.by_seed(value))
    if well_formed and TABLE_FILE in files:
        problems += record.check_table(files[TABLE_FILE], value)
    return problems


def _arrays(arrays: Mapping[str, Array], results: Any) -> list[Problem]:
    with np.errstate(all="ignore"):  # forged numbers may overflow; infinity then fails the check
        return [
            *numbers.check_inputs(arrays),
            *numbers.check_errors(arrays, record.by_seed(results)),
            *numbers.check_sizes(arrays),
            *numbers.check_relations(arrays),
        ]
