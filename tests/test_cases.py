"""What the search draws: within its bounds, varied, and long enough to meet what fires late."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cachecheck import strategies as cs
from cachecheck.guard import Guarded
from cachecheck.judge import Trial
from cachecheck.laws import LAWS
from cachecheck.reference.caches import CACHES
from cachecheck.schedule import Append, coverage, operations_of
from cachecheck.search.cases import Effort, numbered, numbered_cases
from cachecheck.target import load_target
from tests.test_laws import Mean

ROOT = Path(__file__).parent.parent


def small(**declared: int) -> Guarded:
    """A small decoder that declares a window, a length or a vocabulary."""
    decoder = Mean()
    for name, value in declared.items():
        setattr(decoder, name, value)
    return Guarded(decoder)


def drawn(count: int, law: str = "schedule", **declared: int) -> list[Trial]:
    """``count`` cases for a small decoder, as the command draws them."""
    guarded = small(**declared)
    case = numbered_cases(lambda _seed: guarded, range(5), LAWS[law], Effort())
    return [case(number) for number in range(count)]


@pytest.mark.parametrize("law", ["schedule", "prefix"])
@pytest.mark.parametrize("declared", [{}, {"window": 4}, {"max_length": 2}, {"max_length": 7}])
def test_cases_are_valid_and_within_their_bounds(law: str, declared: dict[str, int]) -> None:
    for one in drawn(200, law, **declared):
        assert one.fits()
        assert 1 <= len(one.case.tokens) <= declared.get("max_length", 24)
        assert len(one.case.schedule.chunks) >= LAWS[law].least_calls
        assert 0 <= one.decoder_seed < 5


@pytest.mark.parametrize("law", ["branch", "crop", "reorder", "programs", "work", "window"])
@given(st.data())
def test_cases_of_every_law_fit_a_decoder_that_offers_all_it_needs(
    law: str, data: st.DataObject
) -> None:
    """Each with an operation of the law's, if it has any."""
    name = "ring" if law == "window" else "batched" if "batch" in LAWS[law].needs else "copying"
    decoder = Guarded(CACHES[name](0))
    most = data.draw(st.none() | st.integers(2, 30))
    case = data.draw(cs.cases(decoder, law, max_length=most))
    assert Trial(0, decoder, case).fits()
    assert case.schedule.longest <= (most or 24)
    assert case.schedule.plain or operations_of(case.schedule) & LAWS[law].operations
    assert case.schedule.plain is not bool(LAWS[law].operations)


def test_a_law_about_windows_gets_cases_that_cross_them() -> None:
    decoder = Guarded(CACHES["ring"](0))
    window = decoder.capabilities.window
    assert window is not None
    case = numbered(cs.cases(decoder, "window"), "0")
    assert all(case(number).schedule.longest > window for number in range(100))


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


@pytest.mark.parametrize(("window", "reachable"), [(None, 15), (6, 21)])
def test_every_class_of_calls_is_met_in_the_default_number_of_cases(
    window: int | None, reachable: int
) -> None:
    """Classes of past, of chunk and of where the window lies, as a verdict counts them."""
    met: Counter[coverage.CallClass] = Counter()
    for one in drawn(200) if window is None else drawn(200, window=window):
        met += coverage.classes_of(one.case.schedule, window)
    assert len(met) >= reachable - 1  # 24 tokens hold 16 and 8 once in a few hundred cases


def test_lengths_around_a_window_are_common() -> None:
    lengths = [len(one.case.tokens) for one in drawn(200, window=6)]
    for length in (5, 6, 7, 8, 12):
        assert lengths.count(length) >= 5, length


def test_every_fourth_case_has_a_cut_where_the_window_is_full() -> None:
    cut = [6 in one.case.schedule.cuts for one in drawn(400, window=6)]
    assert 0.2 < np.mean(cut) < 0.6


def test_tokens_repeat_in_some_cases_and_cover_the_vocabulary() -> None:
    found = [one.case.tokens for one in drawn(200)]
    kinds = np.array([len(set(tokens)) for tokens in found])
    assert (kinds[[len(tokens) > 8 for tokens in found]] <= 2).mean() > 0.05
    assert {token for tokens in found for token in tokens} == set(range(8))


def test_in_a_large_vocabulary_the_tokens_with_a_meaning_come_up_too() -> None:
    found = [set(one.case.tokens) for one in drawn(200, vocab_size=50_000)]
    special = {0, 1, 49_998, 49_999}
    assert np.mean([len(tokens & special) > 1 for tokens in found]) > 0.15
    assert np.mean([not tokens & special for tokens in found]) > 0.5


@pytest.mark.parametrize("law", ["schedule", "programs"])
def test_cases_of_thousands_of_tokens_can_be_drawn(law: str) -> None:
    case = numbered(cs.cases(Guarded(CACHES["copying"](0)), law, max_length=4096), "0")
    found = [case(number) for number in range(50)]
    assert max(one.schedule.longest for one in found) > 3000
    long = next(one for one in found if one.schedule.longest > 1000)
    assert len(set(long.tokens[64:])) > 1


def test_a_number_stands_for_the_same_case_whichever_were_drawn_before() -> None:
    forth, back = (
        numbered_cases(lambda _seed: small(), range(5), LAWS["schedule"], Effort(seed=3))
        for _ in range(2)
    )
    first = [forth(number).case for number in range(20)]
    assert [back(number).case for number in reversed(range(20))] == first[::-1]
    other = numbered_cases(lambda _seed: small(), range(5), LAWS["schedule"], Effort(seed=4))
    assert [other(number).case for number in range(20)] != first


def test_a_seed_gives_the_same_cases_in_another_process_whatever_else_is_imported() -> None:
    """Hypothesis' own loop also draws from the constants in source files that it finds loaded."""
    code = (
        "import sys; [__import__(name) for name in sys.argv[1:]]\n"
        "from cachecheck.laws import LAWS\n"
        "from cachecheck.search.cases import Effort, numbered_cases\n"
        "from cachecheck.target import load_target\n"
        "target = load_target('reference')\n"
        "case = numbered_cases(target.make, range(256), LAWS['programs'], Effort(seed=7))\n"
        "print([(case(n).decoder_seed, str(case(n).case.schedule)) for n in range(5)])\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code, *others],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed, others in (("1", []), ("2", ["tests.test_laws", "tests.decoders_for_tests"]))
    }
    assert len(outputs) == 1


def test_every_case_is_for_a_decoder_that_has_what_the_law_needs_where_only_some_do() -> None:
    target = load_target("reference")
    case = numbered_cases(target.make, range(256), LAWS["window"], Effort())
    found = [case(number) for number in range(40)]
    assert all(one.decoder.capabilities.window is not None for one in found)
    assert any(target.make(seed).capabilities.window is None for seed in range(256))
    assert len({one.decoder_seed for one in found}) > 20


@pytest.mark.parametrize(
    "shape",
    [
        lambda case: any(isinstance(s, Append) and len(s.sizes) > 1 for s in case.schedule.steps),
        lambda case: operations_of(case.schedule) & {"crop", "save", "reset", "new"},
    ],
    ids=["batches", "single sequences"],
)
def test_programs_are_of_batches_and_of_single_sequences(shape: Callable[..., object]) -> None:
    case = numbered(cs.cases(Guarded(CACHES["batched"](0)), "programs"), "0")
    assert sum(bool(shape(case(number))) for number in range(100)) > 25
