"""The strategy for cases under a plain `@given`: what it refuses, and what failures shrink to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import InvalidArgument

from cachecheck import strategies as cs
from cachecheck.errors import CachecheckError
from cachecheck.faults import FAULTS
from cachecheck.guard import Guarded
from cachecheck.laws import LAWS
from cachecheck.reference import FROZEN, WRONG_MASKS, Config, ReferenceDecoder
from cachecheck.reference.caches import CACHES
from cachecheck.schedule import Case
from tests.helpers import minimal
from tests.test_laws import Mean


def smallest(decoder: Any, law: str) -> Case:
    """What Hypothesis shrinks a failure of ``law`` to."""
    guarded = Guarded(decoder)

    def fails(case: Case) -> bool:
        try:
            return LAWS[law].try_on(guarded, case).violation is not None
        except CachecheckError:
            return False

    return minimal(cs.cases(guarded, law), fails)


@pytest.mark.parametrize(
    ("mask", "schedule", "tokens"),
    [
        ("query-restart", "1+1", (0, 0)),
        ("offset-too-small", "1+1", (0, 0)),
        ("offset-too-large", "2", (0, 0)),
        ("no-chunk-mask", "2", (0, 0)),
        ("one-position", "2", (0, 0)),
        ("last-chunk-offset", "1+1+1", (0, 0, 0)),
    ],
)
def test_each_wrong_mask_shrinks_to_its_smallest_schedule_and_the_lowest_tokens(
    mask: str, schedule: str, tokens: tuple[int, ...]
) -> None:
    decoder = ReferenceDecoder(FROZEN, seed=0, mask_rule=WRONG_MASKS[mask].rule)
    case = smallest(decoder, "schedule")
    assert (str(case.schedule), case.tokens) == (schedule, tokens)


def test_without_positions_in_the_tokens_two_different_ones_are_left() -> None:
    rule = WRONG_MASKS["query-restart"].rule
    decoder = ReferenceDecoder(Config(positions="rotary"), seed=0, mask_rule=rule)
    case = smallest(decoder, "schedule")
    assert (str(case.schedule), case.tokens) == ("1+1", (0, 1))


@pytest.mark.parametrize(
    ("fault", "schedule"),
    [
        ("copying-crop-ignored", "2 crop1 1"),
        ("hybrid-crop-keeps-state", "2 crop1 1"),
        ("copying-mask-top-left", "1+1"),
    ],
)
def test_faults_shrink_to_the_schedule_that_is_certified_as_the_smallest(
    fault: str, schedule: str
) -> None:
    assert FAULTS[fault].smallest == schedule
    assert str(smallest(FAULTS[fault].make(0), FAULTS[fault].law).schedule) == schedule


SIMPLEST = {
    "causality": "1",
    "prefix": "1+1",
    "determinism": "1",
    "schedule": "1",
    "frame": "1",
    "sensitivity": "1+1",
    "padding": "1",
    "branch": "1 b=a 1 b:1",
    "crop": "2 crop1 1",
    "save": "1 save 1",
    "reset": "1 reset 1",
    "batch": "b=new*1 b:1",
    "reorder": "b=new*1 b:1",
    "programs": "1 b=a 1 b:1",
    "work": "1",
    "overflow": "1",
}


@pytest.mark.parametrize("law", SIMPLEST)
def test_the_simplest_case_of_each_law_is_the_one_documented(law: str) -> None:
    batches = "batch" in LAWS[law].needs
    case = minimal(cs.cases(CACHES["batched" if batches else "static"](0), law))
    assert str(case.schedule) == SIMPLEST[law]
    assert set(case.tokens) == {0}


def test_the_simplest_case_of_the_law_about_windows_crosses_one() -> None:
    decoder = Guarded(CACHES["ring"](0))
    window = decoder.capabilities.window
    assert window is not None
    assert str(minimal(cs.cases(decoder, "window")).schedule) == str(window + 1)
    assert {*SIMPLEST, "window"} == set(LAWS)


class Wrong(Mean):
    """Numbers the rows of every call from 0."""

    def extend(self, tokens: Any, cache: Any) -> Any:
        rows, after = super().extend(tokens, cache)
        return rows + cache[0], after


def test_a_users_own_test_fails_with_a_case_that_can_be_read() -> None:
    decoder = Guarded(Wrong())

    @settings(
        database=None,
        derandomize=True,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cs.cases(decoder, "schedule"))
    def test(case: Case) -> None:
        assert LAWS["schedule"].try_on(decoder, case).violation is None

    with pytest.raises(AssertionError) as failed:
        test()
    notes = "\n".join(failed.value.__notes__)
    assert "case=Case(tokens=(0, 0), schedule=Schedule.parse('1+1'))" in notes


@pytest.mark.parametrize(
    ("define", "said"),
    [
        (lambda: cs.cases(Mean(), "nothing"), "law='nothing' must be a law, or one of causality"),
        (lambda: cs.cases(Mean(), None), "law=None must be"),  # type: ignore[arg-type]
        (lambda: cs.cases(object(), "schedule"), "is no decoder: "),
        (lambda: cs.cases(Mean, "schedule"), "decoder=Mean is a class; give a decoder"),
        (lambda: cs.cases(Mean(), "crop"), r"needs what this decoder lacks: crop\(cache, length\)"),
        (lambda: cs.cases(Mean(), "schedule", max_length=0), "max_length=0"),
        (lambda: cs.cases(Mean(), "schedule", max_length=2.5), "max_length=2.5"),  # type: ignore[arg-type]
        (lambda: cs.programs(operations=[]), r"operations=\[\]"),
        (lambda: cs.programs(operations="crop"), "operations='crop'"),
        (lambda: cs.programs(operations=["append"]), r"operations=\['append'\] must be taken"),
        (lambda: cs.programs(max_length=0), "max_length=0"),
    ],
)
def test_impossible_arguments_are_refused_where_the_strategy_is_defined(
    define: Callable[[], object], said: str
) -> None:
    with pytest.raises(InvalidArgument, match=said):
        define()


def test_a_law_itself_and_a_guarded_decoder_are_accepted() -> None:
    case = minimal(cs.cases(Guarded(Mean()), LAWS["prefix"]))
    assert str(case.schedule) == "1+1"
