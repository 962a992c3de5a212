"""The audit finds every changed byte and every forgery that the arrays contradict.

Run with: pytest tests/test_experiment_audit.py
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import cachecheck
from cachecheck.errors import EvidenceError
from cachecheck.experiment import CHECKS, Problem, audit, auditing, run
from cachecheck.experiment.auditing import examine
from cachecheck.experiment.folder import (
    ARRAYS_FILE,
    FILES,
    HASHES_FILE,
    csv_bytes,
    hashes_bytes,
    json_bytes,
)
from cachecheck.experiment.protocol import (
    ARRAYS,
    COUNTS,
    ERRORS,
    REPORTED,
    SEEDS,
    array_name,
    largest_difference,
)

Arrays = dict[str, NDArray[Any]]
Results = list[dict[str, Any]]

# The folder is changed in place and restored; no database, as drawn offsets age at once.
quick = settings(
    deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="session")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(tmp_path_factory.mktemp("audit") / "evidence")


@pytest.fixture
def forged(evidence: Path, tmp_path: Path) -> Path:
    """A copy to tamper with."""
    return Path(shutil.copytree(evidence, tmp_path / "evidence"))


# Tampering tools; each brings the hashes up to date, as a forger would.


def put(folder: Path, name: str, data: bytes) -> None:
    (folder / name).write_bytes(data)
    rehash(folder)


def rehash(folder: Path) -> None:
    names = [path.name for path in folder.iterdir() if path.is_file() and path.name != HASHES_FILE]
    files = {name: (folder / name).read_bytes() for name in names}
    (folder / HASHES_FILE).write_bytes(hashes_bytes(files))


def change_json(folder: Path, name: str, change: Callable[[Any], Any]) -> None:
    """``change`` alters the value, or returns another."""
    value = json.loads((folder / name).read_bytes())
    other = change(value)
    put(folder, name, json_bytes(value if other is None else other))


def change_results(folder: Path, change: Callable[[Results], Any]) -> None:
    """The table follows."""
    change_json(folder, "results.json", change)
    results = json.loads((folder / "results.json").read_bytes())
    put(folder, "results.csv", csv_bytes(results))


def load(folder: Path) -> Arrays:
    with np.load(folder / ARRAYS_FILE, allow_pickle=False) as archive:
        return dict(archive)


def archive(arrays: Arrays) -> bytes:
    """As a run writes it, but for compression, and with objects if a forger has some."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, allow_pickle=True)
            archive.writestr(f"{name}.npy", member.getvalue())
    return buffer.getvalue()


def change_arrays(
    folder: Path, change: Callable[[Arrays], Any], *, results_too: bool = False
) -> None:
    arrays = load(folder)
    change(arrays)
    put(folder, ARRAYS_FILE, archive(arrays))
    if results_too:

        def recompute(results: Results) -> None:
            for one in results:
                for key, what in ERRORS.items():
                    one[key] = largest_difference(arrays, one["seed"], what)

        change_results(folder, recompute)


def checks(folder: Path) -> set[str]:
    return {problem.check for problem in audit(folder)}


# An honest folder.


def test_a_fresh_run_passes(evidence: Path) -> None:
    assert audit(evidence) == []


def test_a_copy_passes_and_so_does_one_whose_hashes_are_made_anew(forged: Path) -> None:
    rehash(forged)
    assert audit(forged) == []


def test_the_audit_loads_neither_the_decoder_nor_matplotlib(evidence: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom cachecheck.experiment import audit\n"
        "assert audit(Path(sys.argv[1])) == []\n"
        "bad = [m for m in sys.modules if m.startswith(('cachecheck.reference', 'matplotlib'))]\n"
        "assert not bad, bad"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(cachecheck.__file__).parents[1])}
    subprocess.run([sys.executable, "-c", code, str(evidence)], check=True, env=environment)


def test_sources_that_have_changed_since_are_no_problem(forged: Path) -> None:
    change_json(forged, "manifest.json", lambda it: it["sources"].update({"new.py": "0" * 64}))
    assert audit(forged) == []


# Any byte.


@contextmanager
def replaced(path: Path, data: bytes) -> Iterator[None]:
    before = path.read_bytes()
    path.write_bytes(data)
    try:
        yield
    finally:
        path.write_bytes(before)


@settings(quick, max_examples=160)
@given(name=st.sampled_from(FILES), offset=st.integers(0, 10**6), flip=st.integers(1, 255))
def test_any_changed_byte_of_any_file_is_found(
    evidence: Path, name: str, offset: int, flip: int
) -> None:
    data = bytearray((evidence / name).read_bytes())
    data[offset % len(data)] ^= flip
    with replaced(evidence / name, bytes(data)):
        assert audit(evidence) != []


def test_any_changed_byte_of_the_hashes_themselves_is_found(
    evidence: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Unpacking the arrays is most of an audit's time and says nothing about the hashes.
    monkeypatch.setattr(auditing, "parse_arrays", lambda _: ({}, []))
    files = {name: (evidence / name).read_bytes() for name in FILES}
    assert examine(files) == []
    honest = files[HASHES_FILE]
    for offset in range(len(honest)):
        for byte in {honest[offset] ^ 1, ord(" ")} - {honest[offset]}:
            files[HASHES_FILE] = honest[:offset] + bytes([byte]) + honest[offset + 1 :]
            assert examine(files), (offset, byte)


@settings(quick, max_examples=60)
@given(
    name=st.sampled_from(FILES),
    keep=st.integers(0, 10**6),
    more=st.binary(max_size=20) | st.sampled_from([b"\n", b" ", b"{}", b"[" * 5000]),
)
def test_any_truncated_or_longer_file_is_found(
    evidence: Path, name: str, keep: int, more: bytes
) -> None:
    honest = (evidence / name).read_bytes()
    data = honest[: keep % (len(honest) + 1)] + more
    with replaced(evidence / name, data):
        assert (audit(evidence) == []) == (data == honest)


def test_white_space_is_found_even_with_new_hashes(forged: Path) -> None:
    for name in ("results.json", "manifest.json"):
        honest = (forged / name).read_bytes()
        put(forged, name, honest.replace(b": ", b":  ", 1))
        assert checks(forged) == {"canonical"}
        put(forged, name, honest)
    listed = (forged / HASHES_FILE).read_bytes()
    (forged / HASHES_FILE).write_bytes(listed + b"\n")
    assert checks(forged) == {"canonical"}


# Consistent forgeries: hashes, and where it can be the table and the results, follow.


@pytest.mark.parametrize("key", REPORTED)
def test_a_forged_result_is_caught_by_recomputation(forged: Path, key: str) -> None:
    def forge(results: Results) -> None:
        one = results[REPORTED.index(key) % len(SEEDS)]  # each seed has its turn
        one[key] = np.nextafter(one[key], 9.0).item() if key in ERRORS else one[key] + 1

    change_results(forged, forge)
    assert checks(forged) == {"seeds" if key == "seed" else "errors" if key in ERRORS else "counts"}


def scale(name: str) -> Callable[[Arrays], None]:
    def change(arrays: Arrays) -> None:
        array = arrays[name]
        arrays[name] = array + 1 if array.dtype.kind == "i" else 0.9 * array

    return change


@pytest.mark.parametrize("name", ARRAYS)
def test_a_forged_array_is_caught_by_recomputation(forged: Path, name: str) -> None:
    change_arrays(forged, scale(array_name(19, name)))
    assert checks(forged) - {"hashes", "canonical", "files"}
    assert all("19" in problem.where for problem in audit(forged))


# The unmasked pair has no partner and no published figure: forged with its result, only a new
# run could tell. The audit's own docstring says so.
@pytest.mark.parametrize("name", [n for n in ARRAYS if "unmasked" not in n])
def test_a_forged_array_with_its_results_recomputed_is_caught(forged: Path, name: str) -> None:
    change_arrays(forged, scale(array_name(41, name)), results_too=True)
    assert checks(forged) & {
        *("tokens", "probabilities", "counts", "tolerances", "published", "relations")
    }


BOUND = {
    "attention": 24,
    "tokens": 24,
    "cache_bytes": 24,
    "full": 24,
    "masked": 12,
    "prefix": 24,
    "cached": 24,
    "chunked": 24,
    "good": 3,
    "sliding": 24,
    "sliding_cached": 24,
    "reset": 1,
    "cropped": 4,
}
"""Rows of each array that something else fixes."""


@settings(quick, max_examples=60)
@given(
    name=st.sampled_from(sorted(BOUND)),
    seed=st.sampled_from(SEEDS),
    entry=st.integers(0, 10**6),
    shift=st.sampled_from([1e-9, -1e-9, 1e-3, 2.0, 1e300, np.nan, np.inf]),
)
def test_one_forged_entry_where_something_fixes_it_is_caught(
    evidence: Path, name: str, seed: int, entry: int, shift: float
) -> None:
    arrays = load(evidence)
    array = arrays[array_name(seed, name)]
    at = entry % array[: BOUND[name]].size
    array.flat[at] += 1 if array.dtype.kind == "i" else shift
    assert examine({ARRAYS_FILE: archive(arrays)})


# Every check can fail.


def set_entry(
    name: str, index: Any, value: Any, *, results_too: bool = True
) -> Callable[[Path], None]:
    def change(arrays: Arrays) -> None:
        arrays[f"s7_{name}"][index] = value

    return lambda folder: change_arrays(folder, change, results_too=results_too)


def small_control(arrays: Arrays) -> None:
    arrays["s7_perturbed_unmasked"] = arrays["s7_unmasked"] + 0.001


def drop_seed(results: Results) -> None:
    del results[1]


def unchanged_tokens(arrays: Arrays) -> None:
    arrays["s7_masked"] = arrays["s7_full"].copy()


def swap_seeds(results: Results) -> None:
    results[0], results[1] = results[1], results[0]


def manifest(key: str, value: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        change_json(folder, "manifest.json", lambda it: it.update({key: value}))

    return change


def result(key: str, value: Any) -> Callable[[Path], None]:
    return lambda folder: change_results(folder, lambda results: results[0].update({key: value}))


def arrays_with(name: str, value: Any) -> Callable[[Path], None]:
    return lambda folder: change_arrays(folder, lambda arrays: arrays.update({name: value}))


def link(folder: Path) -> None:
    (folder / "results.csv").rename(folder.parent / "outside.csv")
    (folder / "results.csv").symlink_to(folder.parent / "outside.csv")


def twice(folder: Path) -> None:
    buffer = io.BytesIO((folder / ARRAYS_FILE).read_bytes())
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("s7_full.npy", b"")
    put(folder, ARRAYS_FILE, buffer.getvalue())


HEX = "0" * 64
WRONG: list[tuple[str, str, Callable[[Path], Any]]] = [
    ("files", "a missing file", lambda it: (it / "results.csv").unlink()),
    ("files", "no hashes", lambda it: (it / HASHES_FILE).unlink()),
    ("files", "a foreign file", lambda it: put(it, "notes.txt", b"")),
    ("files", "a foreign folder", lambda it: (it / "more").mkdir()),
    ("files", "an empty figures folder", lambda it: (it / "figures").mkdir()),
    ("files", "a link", link),
    ("hashes", "a listed file that is not there", lambda it: change_hashes(it, {"x": HEX})),
    ("hashes", "a wrong digest", lambda it: change_hashes(it, {"results.csv": HEX})),
    ("hashes", "a list instead", lambda it: (it / HASHES_FILE).write_bytes(json_bytes([]))),
    ("hashes", "itself", lambda it: change_hashes(it, {HASHES_FILE: HEX})),
    ("canonical", "not JSON", lambda it: put(it, "results.json", b"[")),
    ("canonical", "NaN", lambda it: put(it, "results.json", b"[\n  NaN\n]\n")),
    ("canonical", "another key order", lambda it: put(it, "results.json", b'{"b":1,"a":2}')),
    ("manifest", "a foreign key", manifest("host", "mine")),
    ("manifest", "a local time", manifest("at", "2026-01-31T12:00:00+02:00")),
    ("manifest", "no time", manifest("at", "yesterday")),
    ("manifest", "a number as version", manifest("python", 3.11)),
    ("manifest", "a short commit", manifest("commit", "abc123")),
    ("manifest", "dirty as text", manifest("dirty", "no")),
    ("manifest", "no sources", manifest("sources", {})),
    ("manifest", "a source outside", manifest("sources", {"../x.py": HEX})),
    ("manifest", "a source without digest", manifest("sources", {"x.py": "1"})),
    ("protocol", "another tolerance", manifest("protocol", {"tolerance": 1e-3})),
    ("seeds", "a seed too few", lambda it: change_results(it, drop_seed)),
    ("seeds", "another order", lambda it: change_results(it, swap_seeds)),
    ("results", "a count as a float", result("full_kv_bytes", 12288.0)),
    ("results", "an error as an integer", result("causal_future_error", 0)),
    ("results", "an object", lambda it: put(it, "results.json", json_bytes({}))),
    ("results", "a foreign key", lambda it: change_json(it, "results.json", add_key)),
    ("table", "another table", lambda it: put(it, "results.csv", b"seed\n7\n")),
    ("arrays", "a foreign array", arrays_with("s7_more", np.zeros(1))),
    ("arrays", "a missing array", lambda it: change_arrays(it, lambda a: a.pop("s19_full"))),
    ("arrays", "another shape", arrays_with("s7_full", np.zeros((24, 15)))),
    ("arrays", "single precision", arrays_with("s7_full", np.zeros((24, 16), np.float32))),
    ("arrays", "a pickle", arrays_with("s7_full", np.array([{}], object))),
    ("arrays", "a large array", arrays_with("s7_full", np.zeros((24, 1600)))),
    ("arrays", "an array twice", twice),
    ("arrays", "no archive", lambda it: put(it, ARRAYS_FILE, b"PK\x05\x06")),
    ("arrays", "NaN", set_entry("full", (3, 3), np.nan, results_too=False)),
    ("tokens", "another token", set_entry("tokens", 5, 31)),
    ("probabilities", "a sum off by a little", set_entry("attention", (0, 0), 1 + 1e-9)),
    ("probabilities", "a negative one", set_entry("attention", (1, slice(2)), [1.5, -0.5])),
    ("probabilities", "one above the diagonal", set_entry("attention", (1, slice(3)), [0, 0, 1])),
    ("errors", "a smaller error", result("sliding_error", 0.0)),
    ("counts", "fewer bytes", result("window_kv_bytes", 1024)),
    ("counts", "another payload", set_entry("cache_bytes", (3, 1), 2049)),
    ("tolerances", "prefixes off", set_entry("prefix", (3, 3), 0.0)),
    ("controls", "a control too small", lambda it: both(it, small_control)),
    ("published", "another figure", lambda it: both(it, scale("s7_wrong"))),
    ("relations", "tokens not changed", lambda it: both(it, unchanged_tokens)),
    ("relations", "a row beyond tanh", set_entry("unmasked", (20, 0), 1.5)),
    ("relations", "a cropped first row", set_entry("cropped", (0, 0), 0.5)),
]
"""(the check that must fail, what is wrong, how to make it so); hashes follow where they can."""


def change_hashes(folder: Path, more: dict[str, str]) -> None:
    listed = json.loads((folder / HASHES_FILE).read_bytes())
    (folder / HASHES_FILE).write_bytes(json_bytes(listed | more))


def add_key(results: Results) -> None:
    results[0]["more"] = 1


def both(folder: Path, change: Callable[[Arrays], Any]) -> None:
    change_arrays(folder, change, results_too=True)


@pytest.mark.parametrize(("check", "what", "wrong"), WRONG, ids=[f"{c}-{w}" for c, w, _ in WRONG])
def test_each_check_can_fail(
    forged: Path, check: str, what: str, wrong: Callable[[Path], Any]
) -> None:
    wrong(forged)
    problems = audit(forged)
    assert check in {problem.check for problem in problems}, what
    for problem in problems:
        assert problem.check in CHECKS
        assert problem.where
        assert str(problem) == f"{problem.check}: {problem.where}: {problem.message}"


def test_every_check_is_among_those_shown_to_fail() -> None:
    assert {check for check, _, _ in WRONG} == set(CHECKS)


def test_each_reported_key_has_a_rule() -> None:
    assert {"seed", *ERRORS, *COUNTS} == set(REPORTED)
    used = {one for what in ERRORS.values() for one in (what.left, what.right)}
    assert used | {"tokens", "attention", "cache_bytes"} == set(ARRAYS)


# Garbage never makes a traceback.

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@settings(quick, max_examples=60)
@given(name=st.sampled_from(FILES), data=st.binary(max_size=300), rehashed=st.booleans())
def test_random_bytes_make_problems_and_no_traceback(
    evidence: Path, name: str, data: bytes, rehashed: bool
) -> None:
    files = {one: (evidence / one).read_bytes() for one in FILES} | {name: data}
    if rehashed and name != HASHES_FILE:
        files[HASHES_FILE] = hashes_bytes(files)
    assert examine(files)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all nodes of a JSON value, its root included."""
    yield path
    items = (
        value
        if isinstance(value, dict)
        else dict(enumerate(value))
        if isinstance(value, list)
        else {}
    )
    for key, inner in items.items():
        yield from places(inner, (*path, key))


@settings(quick, max_examples=100)
@given(
    name=st.sampled_from(["results.json", "manifest.json", HASHES_FILE]),
    place=st.integers(0, 10**6),
    value=json_values,
)
def test_any_value_anywhere_in_the_json_makes_no_traceback(
    evidence: Path, name: str, place: int, value: Any
) -> None:
    files = {one: (evidence / one).read_bytes() for one in FILES if one != ARRAYS_FILE}
    whole = {"root": json.loads(files[name])}
    paths = list(places(whole))[1:]
    *path, last = paths[place % len(paths)]
    node: Any = whole
    for key in path:
        node = node[key]
    node[last] = value
    files[name] = json.dumps(whole["root"], indent=2, sort_keys=True).encode() + b"\n"
    if name != HASHES_FILE:
        files[HASHES_FILE] = hashes_bytes(files)
    for problem in examine(files):
        assert problem.check in CHECKS
        str(problem).encode()  # fit for a terminal, whatever names came with the value


def test_a_bomb_is_not_unpacked(forged: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("s7_full.npy", bytes(10**7))
    put(forged, ARRAYS_FILE, buffer.getvalue())
    assert any("unpacks to 10000000 bytes" in problem.message for problem in audit(forged))


def test_a_header_that_promises_much_is_not_believed(forged: Path) -> None:
    buffer, member = io.BytesIO(), io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**15,)}
    np.lib.format.write_array_header_1_0(member, header)
    with zipfile.ZipFile(buffer, "w") as liar:
        liar.writestr("s7_full.npy", member.getvalue())
    put(forged, ARRAYS_FILE, buffer.getvalue())
    assert any("cannot be read" in problem.message for problem in audit(forged))


def test_a_file_too_large_to_be_ours_is_not_read(forged: Path) -> None:
    with (forged / ARRAYS_FILE).open("r+b") as file:
        file.truncate(10**9)  # sparse: takes no room
    assert Problem("files", ARRAYS_FILE, "has 1000000000 bytes; at most 33554432 are read") in (
        audit(forged)
    )


def test_a_name_with_control_characters_is_shown_plainly(forged: Path) -> None:
    (forged / "\x1b[31mred").touch()
    assert [problem.where for problem in audit(forged)] == ["\\x1b[31mred"]


@pytest.mark.parametrize("name", ["nowhere", "evidence/results.json", "a\0b"])
def test_a_folder_that_is_not_there_is_one_clear_line(forged: Path, name: str) -> None:
    with pytest.raises(EvidenceError, match="is not a folder"):
        audit(forged.parent / name)
