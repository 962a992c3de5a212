"""Checks of everything around the numbers: hashes, manifest, results' structure, table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from cachecheck.experiment.folder import (
    HASHES_FILE,
    MANIFEST_FILE,
    RESULTS_FILE,
    TABLE_FILE,
    csv_bytes,
    digest,
    json_bytes,
)
from cachecheck.experiment.problem import Problem, printable
from cachecheck.experiment.protocol import COUNTS, ERRORS, REPORTED, SEEDS, parameters

MANIFEST_KEYS = frozenset({"at", "python", "numpy", "commit", "dirty", "sources", "protocol"})


KINDS: Mapping[str, type] = {**dict.fromkeys(ERRORS, float), **dict.fromkeys(COUNTS, int)}
"""The type of each reported number, exactly: neither 7.0 nor true is a count."""


def check_hashes(files: Mapping[str, bytes], listed: Any) -> Iterator[Problem]:
    """Check that ``listed`` gives the digest of every file but itself, and of no other."""
    if not isinstance(listed, dict):
        yield Problem("hashes", HASHES_FILE, "expected an object: file name to digest")
        return
    for name in sorted(listed.keys() - files.keys()):
        yield Problem("hashes", printable(name), "is listed but not there")
    for name, data in files.items():
        if name == HASHES_FILE:
            if name in listed:
                yield Problem("hashes", name, "lists itself")
        elif name not in listed:
            yield Problem("hashes", name, "is not listed")
        elif listed[name] != digest(data):
            yield Problem("hashes", name, f"has digest {digest(data)}, not the listed one")


def check_manifest(value: Any) -> Iterator[Problem]:
    """Check keys and kinds of value. Sources that have changed since the run are no problem."""
    if not isinstance(value, dict) or value.keys() != MANIFEST_KEYS:
        expected = ", ".join(sorted(MANIFEST_KEYS))
        yield Problem("manifest", MANIFEST_FILE, f"expected an object with the keys {expected}")
        return
    fits = {
        "at": (_is_utc, "a UTC time such as 2026-01-31T12:00:00+00:00"),
        "python": (_is_version, "a version"),
        "numpy": (_is_version, "a version"),
        "commit": (lambda it: it is None or _is_hex(it, 40, 64), "null or a git commit"),
        "dirty": (
            lambda it: it is None if value["commit"] is None else isinstance(it, bool),
            "true or false, or null where commit is null",
        ),
        "sources": (_is_sources, "a digest for each .py file, by relative posix path"),
    }
    for key, (fit, expected) in fits.items():
        if not fit(value[key]):
            yield Problem("manifest", f"{MANIFEST_FILE}: {key}", f"expected {expected}")
    # Bytes, not ==, for which 7 and 7.0 and, worse, 1 and true are the same.
    if json_bytes(value["protocol"]) != json_bytes(parameters()):
        where = f"{MANIFEST_FILE}: protocol"
        yield Problem("protocol", where, "is not the protocol of the frozen experiment")


def check_results(value: Any) -> Iterator[Problem]:
    """Check for a list, one object a seed, its errors floats and its counts integers."""
    if not isinstance(value, list):
        yield Problem("results", RESULTS_FILE, "expected a list, one object a seed")
        return
    seeds = [one.get("seed") if isinstance(one, dict) else None for one in value]
    if seeds != list(SEEDS) or any(type(seed) is not int for seed in seeds):
        yield Problem("seeds", RESULTS_FILE, f"expected the seeds {list(SEEDS)}, in this order")
    for number, one in enumerate(value):
        where = f"{RESULTS_FILE}: object {number}"
        if not isinstance(one, dict) or one.keys() != set(REPORTED):
            yield Problem("results", where, f"expected the keys {', '.join(REPORTED)}")
            continue
        for key, kind in KINDS.items():
            if type(one[key]) is not kind:
                message = f"expected {kind.__name__}; got {type(one[key]).__name__}"
                yield Problem("results", f"{where}: {key}", message)


def by_seed(value: Any) -> dict[int, dict[str, Any]]:
    """The well-formed objects by seed; `check_results` reports all others."""
    return {
        one["seed"]: one
        for one in (value if isinstance(value, list) else [])
        if isinstance(one, dict)
        and one.keys() == set(REPORTED)
        and one["seed"] in SEEDS
        and all(type(one[key]) is kind for key, kind in KINDS.items())
    }


def check_table(data: bytes, well_formed: list[dict[str, Any]]) -> Iterator[Problem]:
    """Check that the table's bytes are those that the results give."""
    if data != csv_bytes(well_formed):
        yield Problem("table", TABLE_FILE, f"does not say what {RESULTS_FILE} says")


def _is_utc(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        return False
    return time.utcoffset() == timedelta(0) and time.isoformat(timespec="seconds") == value


def _is_version(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"\d+\.\d+[\w.+-]*", value) is not None


def _is_hex(value: Any, *lengths: int) -> bool:
    return (
        isinstance(value, str)
        and len(value) in lengths
        and re.fullmatch("[0-9a-f]+", value) is not None
    )


def _is_sources(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and bool(value)
        and all(_is_source_path(path) and _is_hex(one, 64) for path, one in value.items())
    )


def _is_source_path(path: str) -> bool:
    return path.endswith(".py") and "\\" not in path and not {"", ".", ".."} & {*path.split("/")}
