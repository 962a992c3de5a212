"""Look-alikes that are right: no law accuses one, and each is more than a new name."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import Any

import numpy as np
import pytest

from benchmarks.controls import CONTROLS, Control
from benchmarks.pages.look_alikes import controls_table
from cachecheck.errors import Unsupported
from cachecheck.guard import Guarded
from cachecheck.judge import examine
from cachecheck.laws import LAWS, Law
from cachecheck.protocol import capabilities
from cachecheck.reference import ReferenceDecoder
from cachecheck.reference.config import Precision
from cachecheck.schedule import Case, Schedule
from cachecheck.search import search
from cachecheck.search.cases import Effort
from cachecheck.target import as_target
from cachecheck.verdict import Answer

SEED = 8  # two layers, two heads, ALiBi, no window: nothing hides a difference

QUICK = ("schedule", "crop", "save", "reset", "reorder", "programs")
"""Laws that are tried on one case each; the others wait for the slow tests."""

CONFIGURED = {"no-positions", "learned-positions", "window-of-one", "multi-query"}
"""Reference decoders of a configuration that is worth a control of its own."""

OUTSIDE = {"window-never-reached", "sinks-stay"}
"""Reference caches of another kind, of which the same is true."""

STEPS = {
    "crop": "6 crop5 1+4 crop7 2",
    "save": "4 save 3+1",
    "reset": "5 reset 1+3",
    "reorder": "b=new*2 b:2/3 b:[1,0,1] b:1/2/1",
    "programs": "3 b=a b:2 a:1 b:4",
}
"""One case of each law with operations."""

JOBS = [
    pytest.param(
        control,
        dtype,
        id=f"{control.id}-{control.fixed_dtype or dtype}",
        marks=[pytest.mark.extras] if control.fixed_dtype == "bfloat16" else [],
    )
    for control in CONTROLS.values()
    for dtype in ("float64", "float32")
    if dtype == "float64" or control.fixed_dtype is None
]
every_control = pytest.mark.parametrize(("control", "dtype"), JOBS)
by_id = pytest.mark.parametrize("control", CONTROLS.values(), ids=list(CONTROLS))


def made(control: Control, seed: int, dtype: Precision = "float64") -> Any:
    if control.fixed_dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    return control.make(seed, dtype)


def case_of(law: Law, decoder: Guarded) -> Case:
    schedule = Schedule.parse(STEPS.get(law.id, "3+1+5"))
    tokens = tuple((5 * at + 3) % decoder.vocab_size for at in range(schedule.length))
    return Case(tokens, schedule)


@every_control
def test_no_law_accuses_a_control(control: Control, dtype: Precision) -> None:
    decoder = Guarded(made(control, SEED, dtype))
    for law in (LAWS[name] for name in QUICK):
        if law.lacking(decoder) is None:
            with contextlib.suppress(Unsupported):
                found = examine(law, decoder, case_of(law, decoder))
                assert not found.wrong, (law.id, found)


@pytest.mark.slow
@every_control
def test_no_law_accuses_a_control_over_drawn_cases(control: Control, dtype: Precision) -> None:
    made(control, 0)
    target = as_target(partial(control.make, dtype=dtype), control.id)
    for law in LAWS.values():
        verdict, _ = search(law, target, Effort(seed=11, examples=6))
        assert verdict.answer not in (Answer.VIOLATED, Answer.ERROR), verdict


@by_id
def test_a_control_uses_the_precision_that_it_is_asked_for(control: Control) -> None:
    wide = Guarded(made(control, SEED, "float64"))
    narrow = Guarded(made(control, SEED, "float32"))
    asked = [one.capabilities.dtype or one.precision for one in (wide, narrow)]
    if control.fixed_dtype is None:
        assert asked == ["float64", "float32"]
    elif control.id != "finished-in-float64":  # which hides it
        assert asked == [control.fixed_dtype] * 2


@by_id
def test_a_control_is_more_than_a_new_name(control: Control) -> None:
    decoder = made(control, SEED)
    config = decoder.config
    if control.id in CONFIGURED:
        assert config != made(CONTROLS["keys-newest-first"], SEED).config
        return
    if control.id in OUTSIDE:
        assert not isinstance(decoder, ReferenceDecoder)
        return
    plain = ReferenceDecoder(config, seed=SEED)
    assert seen_of(decoder) != seen_of(plain) or behaves_otherwise(decoder, plain)


def seen_of(decoder: Any) -> Any:
    """What a caller can see of two calls: bytes of rows and state, and what is declared."""
    cache, rows = decoder.new_cache(), []
    for tokens in np.split(np.arange(16) % decoder.vocab_size, [9, 10]):
        some, cache = decoder.extend(tokens, cache)
        rows.append(np.array(some).tobytes())
    state = Guarded(decoder).snapshot(cache)
    full = np.array(decoder.full(np.array([1, 0, 1]))).tobytes()
    return rows, full, state, capabilities(decoder)


def behaves_otherwise(decoder: Any, plain: Any) -> bool:
    """What shows in none of that: members of another code, or storage of another class."""
    names = ("full", "extend", "crop", "save", "load", "new_batch_cache")
    redefined = [
        name
        for name in names
        if getattr(type(decoder), name, None) is not getattr(type(plain), name, None)
    ]
    return bool(redefined) or type(decoder.storage) is not type(plain.storage)


@by_id
def test_what_a_control_says_of_itself_is_a_sentence(control: Control) -> None:
    assert control.id == control.id.lower().strip("-").replace(" ", "")
    for sentence in (control.looks_like, control.why_right):
        assert sentence[0].isupper()
        assert sentence.endswith(".")
        assert "  " not in sentence
        assert len(sentence) < 110


def test_ids_are_unique_and_so_are_the_sentences() -> None:
    controls = list(CONTROLS.values())
    assert len(controls) >= 22
    assert [one.id for one in controls] == list(CONTROLS)
    for attribute in ("id", "looks_like", "why_right"):
        assert len({getattr(one, attribute) for one in controls}) == len(controls)


def test_the_table_has_a_row_for_each() -> None:
    lines = controls_table().splitlines()
    assert len(lines) == len(CONTROLS) + 2
    assert all(line.count(" | ") == 2 for line in lines)
