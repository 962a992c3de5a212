"""Random search: finds the mask bug, shrinks it, keeps a failure's identity, and is repeatable."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cachecheck.guard import Guarded
from cachecheck.laws import LAWS
from cachecheck.reference import FROZEN, WRONG_MASKS, Config, ReferenceDecoder
from cachecheck.search import search
from cachecheck.search.cases import Effort
from cachecheck.strategies.cases import longest
from cachecheck.target import Target, as_target, load_target
from cachecheck.verdict import Answer
from tests.test_laws import Mean, RestartsCounting

SCHEDULE = LAWS["schedule"]


def wrong(name: str, config: Config = FROZEN) -> Target:
    """The reference with a wrong mask in its cached path."""
    rule = WRONG_MASKS[name].rule
    return as_target(lambda seed: ReferenceDecoder(config, seed=seed, mask_rule=rule), name)


@pytest.mark.parametrize("seed", range(20))
def test_rows_numbered_from_0_shrink_to_1_plus_1(seed: int) -> None:
    verdict, _ = search(SCHEDULE, wrong("query-restart"), Effort(seed=seed))
    assert verdict.answer is Answer.VIOLATED
    assert (verdict.schedule, verdict.tokens) == ("1+1", (0, 0))
    assert verdict.violation is not None
    assert verdict.violation.position == 1
    assert (verdict.violation.call, verdict.violation.row) == (2, 0)


SMALLEST = {
    "query-restart": "1+1",
    "offset-too-small": "1+1",
    "offset-too-large": "2",
    "no-chunk-mask": "2",
    "one-position": "2",
    "last-chunk-offset": "1+1+1",
    "window-from-last-row": "1+4",
}


@pytest.mark.parametrize("name", WRONG_MASKS)
def test_every_wrong_mask_is_found_and_shrunk_to_its_smallest_schedule(name: str) -> None:
    """Here with rotary positions; benchmarks/shrinking.py has the others, over 40 seeds."""
    window = 4 if name == "window-from-last-row" else None
    config = Config(positions="rotary", window=window)
    verdict, _ = search(SCHEDULE, wrong(name, config), Effort(seed=5))
    assert verdict.answer is Answer.VIOLATED
    assert verdict.schedule == SMALLEST[name]


def test_a_mask_that_leaves_rows_blind_is_still_found_by_its_wrong_rows() -> None:
    """With a window, some cases raise; the wrong rows are what the report should show."""
    verdict, _ = search(SCHEDULE, wrong("query-restart", Config(window=4)), Effort(seed=0))
    assert (verdict.answer, verdict.schedule) == (Answer.VIOLATED, "1+1")


def test_the_same_seed_finds_the_same_thing_and_another_seed_another_decoder() -> None:
    first, again, other = (
        search(SCHEDULE, wrong("query-restart"), Effort(seed=seed))[0] for seed in (3, 3, 4)
    )
    assert (first.largest_difference, first.examples) == (again.largest_difference, again.examples)
    assert first.decoder_seed != other.decoder_seed


class TwoFaults(Mean):
    """Calls of 5 or more onto history are wrong one way; whole calls of 2 another, by raising."""

    def extend(self, tokens: Any, cache: Any) -> Any:
        rows, after = super().extend(tokens, cache)
        if cache[0] >= 3 and len(tokens) >= 2:
            rows = rows + 1
        if cache[0] == 0 and len(tokens) == 2:
            raise RuntimeError("cannot start with two")
        return rows, after


def test_a_decoder_that_also_raises_is_reported_by_its_wrong_rows() -> None:
    verdict, _ = search(SCHEDULE, as_target(TwoFaults, "two"), Effort())
    assert (verdict.answer, verdict.schedule) == (Answer.VIOLATED, "3+2")


class Raises(Mean):
    """Gives up on a chunk onto 2 tokens or more."""

    def extend(self, tokens: Any, cache: Any) -> Any:
        if cache[0] >= 2 and len(tokens) > 1:
            raise RuntimeError("mask of shape (2, 2) does not fit (2, 4)")
        return super().extend(tokens, cache)


def test_a_decoder_that_raises_is_an_error_with_its_smallest_case() -> None:
    verdict, cause = search(SCHEDULE, as_target(Raises, "raises"), Effort())
    assert verdict.answer is Answer.ERROR
    assert verdict.schedule == "2+2"
    assert verdict.message.startswith("extend(2 tokens, cache) raised RuntimeError: mask of shape")
    assert isinstance(cause, RuntimeError)


class Moody(Mean):
    """Wrong at random, from a stream of its own."""

    rng = np.random.default_rng(0)

    def extend(self, tokens: Any, cache: Any) -> Any:
        rows, after = super().extend(tokens, cache)
        return rows + (self.rng.random() < 0.05), after


def test_a_failure_that_does_not_repeat_is_a_violation_that_says_so() -> None:
    verdict, _ = search(SCHEDULE, as_target(Moody, "moody"), Effort())
    assert verdict.answer is Answer.VIOLATED
    assert verdict.violation is not None
    assert not verdict.repeatable
    assert not verdict.shrunk
    assert "wrong once and right when tried again" in verdict.message


class ShortWindow(Mean):
    """Declares a window that no case crosses, and one that some do."""

    window = 4096


def test_a_window_that_was_never_crossed_is_told() -> None:
    verdict, _ = search(SCHEDULE, as_target(ShortWindow, "wide"), Effort(examples=20))
    assert "no case crossed the window of 4096" in verdict.message
    crossed, _ = search(
        SCHEDULE,
        as_target(lambda seed: ReferenceDecoder(Config(window=6), seed=seed), "6"),
        Effort(),
    )
    assert crossed.message == ""


def test_the_canary_is_reported_in_full() -> None:
    """The runner reports a failure wherever there is one: position, call, row, difference."""
    verdict, cause = search(SCHEDULE, as_target(RestartsCounting, "canary"), Effort())
    assert verdict.violation is not None
    assert verdict.violation.position == 1
    assert verdict.largest_difference == verdict.violation.difference
    assert verdict.violation.difference is not None
    assert verdict.violation.difference > verdict.violation.tolerance
    assert cause is not None


@pytest.mark.parametrize(
    ("declared", "asked", "expected"),
    [
        ({}, None, 24),
        ({"window": 4}, None, 24),
        ({"window": 40}, None, 82),
        ({"window": 128}, None, 136),
        ({"window": 4096}, None, 24),
        ({"max_length": 16}, None, 16),
        ({"max_length": 16}, 50, 16),
        ({"window": 8}, 10, 10),
    ],
)
def test_lengths_reach_across_the_window_and_stay_within_max_length(
    declared: dict[str, int], asked: int | None, expected: int
) -> None:
    decoder = Mean()
    for name, value in declared.items():
        setattr(decoder, name, value)
    assert longest(Guarded(decoder), asked) == expected


def test_a_ready_decoder_and_one_without_a_seed_are_tried_with_one_seed() -> None:
    assert as_target(Mean(), "ready").seeds == 1
    assert as_target(lambda: Mean(3), "no seed").seeds == 1
    assert as_target(Mean, "seed").seeds > 1
    assert load_target("reference").seeds > 100
