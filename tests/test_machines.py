"""The state machine: quiet on the reference caches, loud on broken ones, with a line to replay."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import InvalidArgument
from hypothesis.stateful import run_state_machine_as_test

from cachecheck.faults import FAULTS
from cachecheck.reference import WRONG_MASKS, ReferenceDecoder
from cachecheck.reference.caches import CACHES
from cachecheck.schedule import Case, Schedule
from cachecheck.strategies import cache_machine

pytestmark = pytest.mark.slow


def run(decoder: Any, *, examples: int, steps: int = 12, shrink: bool = False) -> None:
    """Run the machine on ``decoder``, the same cases every time."""
    run_state_machine_as_test(
        cache_machine(decoder),
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            database=None,
            derandomize=True,
            phases=(Phase.generate, *([Phase.shrink] if shrink else [])),
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.parametrize("name", CACHES)
def test_no_program_breaks_a_reference_cache(name: str) -> None:
    run(CACHES[name], examples=8)


def failure(decoder: Any, **options: Any) -> str:
    """What the machine says of a broken decoder."""
    with pytest.raises(AssertionError) as caught:
        run(decoder, **options)
    return str(caught.value)


def wrong_mask(seed: int) -> ReferenceDecoder:
    """The published mistake."""
    return ReferenceDecoder(seed=seed, mask_rule=WRONG_MASKS["query-restart"].rule)


BROKEN: dict[str, Callable[[int], Any]] = {
    "wrong mask": wrong_mask,
    **{
        name: FAULTS[name].make
        for name in (
            "static-fork-shares-buffers",
            "copying-crop-ignored",
            "static-reset-keeps-length",
            "batched-pads-unmasked",
            "paged-release-leaks",
        )
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_cache_fails_with_a_schedule_that_can_be_parsed(name: str) -> None:
    said = failure(BROKEN[name], examples=400)
    found = re.search(r'cachecheck shrink \S+ "([^"]+)" --tokens ([\d,]+) --seed (\d+)', said)
    assert found, said
    tokens = tuple(map(int, found[2].split(",")))
    assert str(Case(tokens, Schedule.parse(found[1])).schedule) == found[1]


def test_the_wrong_mask_shrinks_to_two_tokens() -> None:
    said = failure(wrong_mask, examples=20, steps=4, shrink=True)
    assert 'wrong_mask "1+1" --tokens 0,0 --seed 0' in said


def test_a_machine_class_is_made_for_each_decoder_and_bounds_are_checked() -> None:
    first, second = cache_machine(CACHES["ring"]), cache_machine(CACHES["paged"], max_length=5)
    assert first is not second
    assert (first.max_length, second.max_length) == (12, 5)
    with pytest.raises(InvalidArgument, match="max_length"):
        cache_machine(CACHES["ring"], max_length=1)
