"""What the search draws: within its bounds, varied, and long enough to meet what fires late."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import Phase, given, settings

from cachecheck.guard import Guarded
from cachecheck.judge import Trial
from cachecheck.laws import LAWS
from cachecheck.search.cases import Effort, cases
from tests.test_laws import Mean


def drawn(count: int, law: str = "schedule", **declared: int) -> list[Trial]:
    """``count`` cases for a small decoder that declares a window or a length."""
    decoder = Mean()
    for name, value in declared.items():
        setattr(decoder, name, value)
    guarded = Guarded(decoder)
    collected: list[Trial] = []

    @settings(max_examples=count, phases=(Phase.generate,))
    @given(cases(lambda _seed: guarded, range(5), LAWS[law], Effort()))
    def collect(one: Trial) -> None:
        collected.append(one)

    collect()
    return collected


@pytest.mark.parametrize("law", ["schedule", "prefix"])
@pytest.mark.parametrize("declared", [{}, {"window": 4}, {"max_length": 2}, {"max_length": 7}])
def test_cases_are_valid_and_within_their_bounds(law: str, declared: dict[str, int]) -> None:
    for one in drawn(200, law, **declared):
        assert one.fits()
        assert 1 <= len(one.case.tokens) <= declared.get("max_length", 24)
        assert len(one.case.schedule.chunks) >= LAWS[law].least_calls
        assert 0 <= one.decoder_seed < 5


def test_two_hundred_cases_are_two_hundred_different_ones() -> None:
    found = drawn(200)
    assert len({one.case for one in found}) > 190
    assert len({one.case.schedule for one in found}) > 150
    assert {one.decoder_seed for one in found} == set(range(5))


def test_chunks_of_several_tokens_onto_history_dominate_and_long_histories_are_common() -> None:
    counts: Counter[str] = Counter()
    for one in drawn(200):
        spans = one.case.schedule.spans
        onto = [(start, stop - start) for start, stop in spans[1:]]
        counts["several onto history"] += any(chunk > 1 for _, chunk in onto)
        counts["longer than history"] += any(chunk > past for past, chunk in onto)
        counts["history of 16"] += any(past >= 16 for past, _ in onto)
        counts["three calls"] += len(spans) > 2
        counts["whole"] += len(spans) == 1
        counts["one by one"] += max(one.case.schedule.chunks) == 1 < len(spans)
    assert counts["several onto history"] > 120
    assert counts["longer than history"] > 40
    assert counts["history of 16"] > 50
    assert counts["three calls"] > 90
    assert counts["whole"] > 5
    assert counts["one by one"] > 5


def test_lengths_around_a_window_are_common() -> None:
    lengths = [len(one.case.tokens) for one in drawn(200, window=6)]
    for length in (5, 6, 7, 8, 12):
        assert lengths.count(length) >= 5, length


def test_tokens_repeat_in_some_cases_and_cover_the_vocabulary() -> None:
    found = [one.case.tokens for one in drawn(200)]
    kinds = np.array([len(set(tokens)) for tokens in found])
    assert (kinds[[len(tokens) > 8 for tokens in found]] <= 2).mean() > 0.05
    assert {token for tokens in found for token in tokens} == set(range(8))
