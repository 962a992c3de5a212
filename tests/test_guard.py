"""A wrong adapter gives one clear line, from every law, and never looks like a right decoder."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from cachecheck.errors import CachecheckError, Unsupported
from cachecheck.guard import Guarded
from cachecheck.laws import LAWS
from cachecheck.search import search
from cachecheck.search.cases import Effort
from cachecheck.target import as_target
from cachecheck.verdict import Answer, Verdict, exit_code
from tests.decoders_for_tests import (
    Altered,
    Dropout,
    NanFrom5,
    OnDevice,
    OneBuffer,
    RaisesOnThird,
    Sums,
    WritesTokens,
    both,
)


def put(rows: Any, value: float) -> Any:
    """The rows with ``value`` in the second column of the last one."""
    rows[-1, 1] = value
    return rows


def throw(error: BaseException) -> Any:
    """Raise, where only an expression may stand."""
    raise error


def half(*members: str) -> Any:
    """A decoder with these members alone."""
    return type("Half", (), {name: 8 if name == "vocab_size" else print for name in members})()


FLOATS = "expected floats of shape (1, width)"
PAIR = "expected a pair (rows, cache)"

# What both paths do to right rows, and what the line about it must say.
ROWS: dict[str, tuple[Callable[[Any], Any], tuple[str, ...]]] = {
    "nan": (lambda r: put(r, np.nan), ("returned nan in row 0, column 1; rows must be finite",)),
    "infinity": (lambda r: put(r, -np.inf), ("returned -inf in row 0, column 1", "finite")),
    "a row too many": (lambda r: np.vstack([r, r[:1]]), ("shape (2, 4)", FLOATS)),
    "the last row": (lambda r: r[-1:], ("full(2 tokens)", "(1, 4)", "one row for each token")),
    "no rows": (lambda r: r[:0], ("shape (0, 4)", FLOATS)),
    "1-D rows": (lambda r: r[:, 0], ("shape (1,)", FLOATS)),
    "3-D rows": (lambda r: r[None], ("shape (1, 1, 4)", FLOATS)),
    "zero width": (lambda r: r[:, :0], ("shape (1, 0)", FLOATS)),
    "integers": (lambda r: r.astype(int), ("int64 values", FLOATS)),
    "booleans": (lambda r: r > 0, ("bool values", FLOATS)),
    "complex": (lambda r: r + 1j, ("complex128 values", FLOATS)),
    "objects": (lambda r: r.astype(object), ("object values", FLOATS)),
    "None": (lambda _: None, ("full(1 token) returned None", FLOATS)),
    "a string": (lambda _: "rows", ("full(1 token) returned str", FLOATS)),
    "a dict": (lambda r: {"logits": r}, ("full(1 token) returned dict", FLOATS)),
    "a tuple": (lambda r: (r, r), ("full(1 token) returned a tuple of 2", FLOATS)),
    "ragged": (lambda r: [[1.0], [1.0, 2.0]][: len(r)], ("list, which numpy cannot read (",)),
    "on a device": (
        lambda _: OnDevice(),
        ("OnDevice of shape (2, 4)", "cannot read (can't convert cuda", "rows.detach().cpu()"),
    ),
}

# What extend makes of a right (rows, cache).
PAIRS: dict[str, tuple[Callable[[Any, Any], Any], tuple[str, ...]]] = {
    "rows alone": (lambda r, _: r, ("returned ndarray of shape (1, 4)", PAIR)),
    "a triple": (lambda r, c: (r, c, 0), ("returned a tuple of 3", PAIR)),
    "a list": (lambda r, c: [r, c], ("returned list", PAIR)),
    "swapped": (lambda r, c: (c, r), ("a tuple of 2, ndarray", "the two seem swapped")),
    "None for the cache": (lambda r, _: (r, None), ("the cache that holds the new tokens too",)),
    "the last row, 1-D": (lambda r, c: (r[-1], c), ("shape (4,)", FLOATS)),
    "narrower": (lambda r, c: (r[:, :2], c), ("rows of width 2; an earlier call gave 4", "same")),
    "an error": (
        lambda *_: throw(RuntimeError("")),
        ("extend(1 token, cache) raised RuntimeError: (no message) (test_guard.py:",),
    ),
}

OTHERS: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "dropout": (Dropout, ("two answers for the same 2 tokens", "switch off dropout (eval mode)")),
    "full raises": (
        lambda: Altered(full=lambda _: throw(ValueError("bad shape\nand more"))),
        ("full(1 token) raised ValueError: bad shape (test_guard.py:",),
    ),
    "full exits": (
        lambda: Altered(full=lambda _: throw(SystemExit(3))),
        ("full(1 token) raised SystemExit: 3 (test_guard.py:",),
    ),
    "no new cache": (
        lambda: Altered(new_cache=lambda _: None),
        ("new_cache() returned None; expected an empty cache",),
    ),
    "new_cache raises": (
        lambda: Altered(new_cache=lambda _: throw(KeyError("layers"))),
        ("new_cache() raised KeyError: 'layers'",),
    ),
    "no size": (lambda: half("full", "new_cache", "extend"), ("Half lacks vocab_size; a decoder",)),
    "no full": (lambda: half("vocab_size", "new_cache", "extend"), ("lacks full; a decoder has",)),
    "no new_cache": (lambda: half("vocab_size", "full", "extend"), ("Half lacks new_cache;",)),
    "no extend": (lambda: half("vocab_size", "full", "new_cache"), ("Half lacks extend;",)),
    "full alone": (lambda: half("full"), ("lacks vocab_size and new_cache and extend;",)),
}

SIZE = "an integer >= 2 (laws change tokens)"
DTYPES = "one of float64, float32, float16, bfloat16"
DECLARED: list[tuple[str, Any, str]] = [
    *(("vocab_size", size, SIZE) for size in (1, 0, -3, True, "8", 8.0, None)),
    ("mutates_cache", 1, "True or False"),
    ("mutates_cache", None, "True or False"),
    ("window", 0, "None or an integer >= 1"),
    ("window", "x", "None or an integer >= 1"),
    ("max_length", 1, "None or an integer >= 2"),
    ("max_length", True, "None or an integer >= 2"),
    ("atol", -1, "a number above 0"),
    ("atol", "small", "a number above 0"),
    ("atol", float("nan"), "a number above 0"),
    ("atol", True, "a number above 0"),
    ("dtype", "int8", DTYPES),
    ("dtype", 7, DTYPES),
]

WRONG: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    **{f"rows: {name}": (partial(both, alter), parts) for name, (alter, parts) in ROWS.items()},
    **{
        f"pair: {n}": (partial(Altered, extend=alter), parts) for n, (alter, parts) in PAIRS.items()
    },
    **OTHERS,
    **{
        f"{name} {value!r}": (
            partial(Altered, **{name: value}),
            (f"{name} must be {expected}; got {value!r}",),
        )
        for name, value, expected in DECLARED
    },
}


def verdicts_on(make: Callable[[], Any], *, examples: int = 20) -> dict[str, Verdict]:
    """The verdict of every law that three functions unlock, and of `overflow`."""
    target = as_target(make, "adapter")
    chosen = [law for law in LAWS.values() if not law.needs or law.id == "overflow"]
    return {law.id: search(law, target, Effort(examples=examples))[0] for law in chosen}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_adapter_gives_the_same_clear_line_from_every_law(name: str) -> None:
    make, parts = WRONG[name]
    verdicts = list(verdicts_on(make).values())
    assert {verdict.answer for verdict in verdicts} == {Answer.ERROR}
    assert exit_code(verdicts) == 2
    (line,) = {verdict.message for verdict in verdicts}
    assert "\n" not in line
    for part in parts:
        assert part in line


@pytest.mark.parametrize("name", WRONG)
def test_the_probe_alone_meets_every_plain_mistake(name: str) -> None:
    make, parts = WRONG[name]
    with pytest.raises(CachecheckError) as caught:
        Guarded(make()).probe()
    assert all(part in str(caught.value) for part in parts)


RIGHT: dict[str, Callable[[], Any]] = {
    "as it is": Sums,
    "float16": lambda: both(lambda rows: rows.astype(np.float16)),
    "float32": lambda: both(lambda rows: rows.astype(np.float32)),
    "long double": lambda: both(lambda rows: rows.astype(np.longdouble)),
    "big-endian": lambda: both(lambda rows: rows.astype(">f8")),
    "lists of lists": lambda: both(lambda rows: rows.tolist()),
    "not contiguous": lambda: both(lambda rows: np.asfortranarray(rows)[:, ::-1]),
    "one buffer for all rows": OneBuffer,
    "writes its tokens": WritesTokens,
    "numpy vocab_size": lambda: Altered(vocab_size=np.int32(8)),
    "numpy lengths": lambda: Altered(window=np.int64(30), max_length=np.int64(9)),
    "numpy atol": lambda: Altered(atol=np.float32(1e-3)),
    "the shortest max_length": lambda: Altered(max_length=2),
    "huge rows, past what float32 holds": lambda: both(
        lambda rows: np.hstack([rows, rows * 1e300])
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_adapter_passes_every_law(name: str) -> None:
    verdicts = verdicts_on(RIGHT[name], examples=10)
    del verdicts["overflow"]  # some declare a max_length that they do not keep
    assert {verdict.answer for verdict in verdicts.values()} == {Answer.HOLDS}


def test_nan_in_long_sequences_alone_is_an_error_with_the_smallest_schedule() -> None:
    verdicts = verdicts_on(NanFrom5, examples=25)
    for law in ("causality", "prefix", "schedule"):
        found = verdicts[law]
        assert (found.answer, found.tokens) == (Answer.ERROR, (0, 0, 0, 0, 0))
        assert (
            found.message == "full(5 tokens) returned nan in row 4, column 0; rows must be finite"
        )
    assert verdicts["schedule"].schedule == "5"
    assert exit_code(list(verdicts.values())) == 2


def test_an_error_from_three_tokens_on_spares_the_laws_that_never_get_there() -> None:
    verdicts = verdicts_on(RaisesOnThird, examples=25)
    found = verdicts["schedule"]
    assert (found.answer, found.schedule, found.tokens) == (Answer.ERROR, "3", (0, 0, 0))
    assert "raised RuntimeError: out of memory at 3 tokens (decoders_for_tests.py:" in found.message
    assert verdicts["sensitivity"].answer is Answer.ERROR
    assert verdicts["causality"].answer is Answer.ERROR
    assert verdicts["prefix"].answer is Answer.HOLDS


STATES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "None": (lambda _: None, "state(cache) returned None; expected, per layer, a mapping of names"),
    "one mapping": (lambda c: {"sum": c[0]}, "returned dict; expected, per layer"),
    "arrays": (lambda c: [c[0]], "to arrays (a layer is ndarray of shape (4,))"),
    "objects": (lambda _: [{"past": object()}], "to arrays (past is not numbers)"),
    "on a device": (lambda _: [{"key": OnDevice()}], "(can't convert cuda:0 device type tensor"),
    "an error": (lambda _: throw(KeyError("layer")), "state(cache) raised KeyError: 'layer'"),
}


@pytest.mark.parametrize("name", STATES)
def test_a_wrong_state_is_an_error_of_the_one_law_that_reads_it(name: str) -> None:
    state, part = STATES[name]
    verdicts = verdicts_on(partial(Altered, state=state), examples=5)
    assert verdicts["frame"].answer is Answer.ERROR
    assert part in verdicts["frame"].message
    others = [verdict for law, verdict in verdicts.items() if law != "frame"]
    assert {verdict.answer for verdict in others} == {Answer.HOLDS, Answer.UNSUPPORTED}


def test_a_right_state_may_come_from_a_generator_in_any_numeric_type() -> None:
    def state(cache: Any) -> Any:
        yield {"sum": cache[0].astype(np.float16), 0: cache[1], "used": [True, False]}

    assert verdicts_on(partial(Altered, state=state), examples=5)["frame"].answer is Answer.HOLDS


def test_a_refusal_is_quoted_and_is_no_error() -> None:
    def refuse(*_: Any) -> Any:
        raise NotImplementedError("caches need a GPU")

    with pytest.raises(Unsupported, match="new_cache refused: caches need a GPU"):
        Guarded(Altered(new_cache=refuse)).probe()
    verdicts = list(verdicts_on(partial(Altered, new_cache=refuse)).values())
    assert {verdict.answer for verdict in verdicts} == {Answer.UNSUPPORTED}
    assert exit_code(verdicts) == 2  # nothing was checked


def test_an_interrupt_is_not_taken_for_a_mistake_of_the_decoder() -> None:
    with pytest.raises(KeyboardInterrupt):
        Guarded(Altered(full=lambda _: throw(KeyboardInterrupt()))).probe()
