"""The tolerance as an argument: noise, signal, what lies between, and what is said without room."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.controls import CONTROLS
from cachecheck.guard import Guarded
from cachecheck.judge.margin import has_room, measure
from cachecheck.laws import LAWS
from cachecheck.reference import Config, ReferenceDecoder
from cachecheck.reference.caches import CACHES
from cachecheck.report.summary import summarised
from cachecheck.report.terminal import margin_line
from cachecheck.search import search
from cachecheck.search.cases import Effort
from cachecheck.target import as_target
from cachecheck.tolerance import RELATIVE, least_noise, tightened
from cachecheck.verdict import Answer, Code, Margin, Reason, Verdict
from cachecheck.verdict.sentences import sentence
from tests.decoders_for_tests import Sums


class Faint(Sums):
    """Rows of order one in which all tokens but a row's own count for next to nothing."""

    share = 1e-6
    dtype = "float32"

    def full(self, tokens: Any) -> Any:
        return self.rows(tokens, np.zeros_like(self.embedding[0]))[0]

    def extend(self, tokens: Any, cache: Any) -> Any:
        rows, past = self.rows(tokens, cache[0])
        return rows, (past, cache[1] + len(tokens))

    def rows(self, tokens: Any, past: Any) -> Any:
        """A row is its embedding, and a share of the sum of those before it."""
        own = self.embedding[tokens]
        before = past + np.cumsum(own, axis=0) - own
        return (own + self.share * before).astype(np.float32), before[-1] + own[-1]


class Forgetful(Faint):
    """Loses half of what came before at each call: by far less than rows are bounded to."""

    def extend(self, tokens: Any, cache: Any) -> Any:
        return super().extend(tokens, (cache[0] / 2, cache[1]))


class Plain(Faint):
    share = 0.1


def verdict(make: Any, law: str = "schedule", examples: int = 30) -> Verdict:
    return search(LAWS[law], as_target(make, "decoder"), Effort(examples=examples))[0]


@pytest.mark.parametrize("make", [Faint, Forgetful])
def test_without_room_for_a_mistake_nothing_is_said_to_hold(make: Any) -> None:
    found = verdict(make)
    assert found.answer is Answer.INCONCLUSIVE
    assert "hiding or leaking one key" in found.message
    assert "weights of unit scale, or offer as_float64()" in found.message


def test_with_room_the_margin_is_measured_and_told() -> None:
    found = verdict(lambda seed: ReferenceDecoder(Config(dtype="float32"), seed=seed))
    assert found.answer is Answer.HOLDS
    margin = found.margin
    assert margin is not None
    assert margin.signal is not None
    assert margin.noise < margin.tolerance < margin.signal
    assert margin.length == 24
    summary = summarised([found], "it")
    assert summary.margin == margin
    line = margin_line(margin)
    assert line.startswith(f"margin  rounding {margin.noise:.1e} < tolerance 3.0e-05 < mildest ")
    assert summarised([], "it").margin is None


def test_rows_that_are_equal_to_the_bit_need_no_margin() -> None:
    found = verdict(lambda seed: ReferenceDecoder(seed=seed), law="determinism")
    assert (found.largest_difference, found.margin, found.answer) == (0.0, None, Answer.HOLDS)


def test_a_mistake_below_the_last_bit_is_not_said_to_be_excluded() -> None:
    class Vanishing(Forgetful):
        share = 1e-13

    found = verdict(Vanishing)
    assert (found.largest_difference, found.answer) == (0.0, Answer.INCONCLUSIVE)


def test_signal_falls_with_length_and_order_counts_only_where_there_is_order() -> None:
    placed, unplaced = (
        Guarded(ReferenceDecoder(Config(positions=one, normalise=True)))
        for one in ("rotary", "none")
    )
    short, long = measure(placed, 8), measure(placed, 200)
    assert short.signal is not None
    assert long.signal is not None
    assert short.signal > 4 * long.signal
    one_layer = Guarded(ReferenceDecoder(Config(positions="none", layers=1)))
    assert measure(one_layer, 24).probe == "influence"
    assert measure(placed, 24).probe in ("influence", "order")
    assert has_room(measure(unplaced, 24))


def test_a_window_of_one_has_no_signal_and_needs_none() -> None:
    margin = measure(Guarded(ReferenceDecoder(Config(window=1))), 24)
    assert margin.signal is None
    assert has_room(margin)


def test_the_tolerance_is_drawn_between_noise_and_signal_only_where_it_has_to_be() -> None:
    assert tightened(noise=0.01, signal=100.0) == 1.0
    assert tightened(noise=0.01, signal=1.0) == pytest.approx(0.1)
    assert tightened(noise=0.01, signal=0.02) == pytest.approx(0.04)  # never within the noise
    assert tightened(noise=2.0, signal=0.1) == 1.0


def test_reasoned_noise_is_far_below_the_bounds_and_grows_slowly() -> None:
    for precision in RELATIVE:
        assert 0 < least_noise(precision, 24) <= least_noise(precision, 1024) < 0.25


def test_deep_rounding_is_told_from_a_mistake_by_its_own_float64() -> None:
    found = verdict(CONTROLS["deep-residual"].make)
    assert found.answer is Answer.HOLDS, found.message


def test_a_promised_atol_is_named_in_the_verdict() -> None:
    found = verdict(CACHES["quantised"])
    assert found.answer is Answer.HOLDS
    assert "that the decoder promises: a mistake smaller than that cannot be found" in found.message


def test_mistakes_far_beyond_a_promise_are_no_matter_of_rounding() -> None:
    class Breaks(Forgetful):
        share, atol = 0.1, 0.01

    assert verdict(Breaks).answer is Answer.VIOLATED


def test_a_promise_below_rounding_is_no_way_round_the_margin() -> None:
    class Promises(Forgetful):
        atol = 1e-9

    assert verdict(Promises).answer is Answer.INCONCLUSIVE


class TwoKinds(Plain):
    """A few columns that are large and right beside those in which history is lost."""

    def widened(self, rows: Any) -> Any:
        return np.hstack([rows, 1e6 * rows[:, :2]])

    def full(self, tokens: Any) -> Any:
        return self.widened(super().full(tokens))

    def extend(self, tokens: Any, cache: Any) -> Any:
        right, after = super().extend(tokens, cache)
        wrong, _ = super().extend(tokens, (0 * cache[0], cache[1]))
        return np.hstack([wrong, 1e6 * right[:, :2]]), after


def test_large_columns_hide_no_mistake_in_the_others() -> None:
    assert verdict(TwoKinds).answer is Answer.VIOLATED


def test_columns_masked_with_a_large_number_leave_room() -> None:
    class Masked(Plain):
        def full(self, tokens: Any) -> Any:
            return self.masked(super().full(tokens))

        def extend(self, tokens: Any, cache: Any) -> Any:
            rows, after = super().extend(tokens, cache)
            return self.masked(rows), after

        def masked(self, rows: Any) -> Any:
            return np.hstack([rows, np.full((len(rows), 2), np.float32(-1e9))])

    found = verdict(Masked)
    assert found.answer is Answer.HOLDS, found.message


def test_differences_many_times_the_noise_are_not_called_equal() -> None:
    class Noisy(Plain):
        def extend(self, tokens: Any, cache: Any) -> Any:
            rows, after = super().extend(tokens, cache)
            return (rows * np.float32(1 + 2e-5 * (cache[1] > 0))).astype(np.float32), after

    found = verdict(Noisy)
    assert found.answer is Answer.INCONCLUSIVE
    assert "within the usual tolerance, but many times the rounding of" in found.message


def test_float64_is_not_advised_to_a_decoder_that_offers_it() -> None:
    margin = Margin(1e-3, 1e-2, 1e-2, "influence", 24)
    reasons = [
        Reason(Code.NO_ROOM, margin=margin, has_float64=True),
        Reason(Code.BEYOND_NOISE, value=1e-2, bound=1e-3, margin=margin, has_float64=True),
    ]
    for reason in reasons:
        said = sentence(reason)
        assert said.endswith("; try shorter sequences, or weights of unit scale")
    without = replace(reasons[0], has_float64=False)
    assert sentence(without).endswith(", or offer as_float64()")
