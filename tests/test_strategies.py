"""The strategies: valid by construction, reaching their corners, shrinking to pinned minima."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument
from hypothesis.strategies import SearchStrategy

from cachecheck import strategies as cs
from cachecheck.reference import WRONG_MASKS, Config, ReferenceDecoder, offset_mask
from cachecheck.strategies import AttentionProblem, WrongMaskProblem
from tests.helpers import minimal

ROOT = Path(__file__).parent.parent


def sample(strategy: SearchStrategy[Any], count: int) -> list[Any]:
    """``count`` examples, the same ones every time."""
    drawn: list[Any] = []

    @settings(max_examples=count, phases=(Phase.generate,))
    @given(strategy)
    def collect(value: Any) -> None:
        drawn.append(value)

    collect()
    return drawn


# --- valid by construction ---


@given(st.integers(1, 40), st.data())
def test_partitions_add_up_within_their_bounds(length: int, data: st.DataObject) -> None:
    least = data.draw(st.integers(1, length))
    most = data.draw(st.none() | st.integers(least, length + 3))
    chunks = data.draw(cs.chunk_partitions(length, min_chunks=least, max_chunks=most))
    assert sum(chunks) == length
    assert min(chunks) >= 1
    assert least <= len(chunks) <= (length if most is None else most)


@given(st.integers(1, 30), st.integers(0, 30), st.none() | cs.windows(), st.data())
def test_lengths_stay_within_their_bounds(
    low: int, extra: int, window: int | None, data: st.DataObject
) -> None:
    length = data.draw(cs.lengths(min_value=low, max_value=low + extra, window=window))
    assert low <= length <= low + extra


@given(st.integers(1, 50), st.integers(1, 9), st.integers(0, 9), st.data())
def test_tokens_lie_in_the_vocabulary(
    vocab_size: int, least: int, extra: int, data: st.DataObject
) -> None:
    tokens = data.draw(cs.token_ids(vocab_size, min_size=least, max_size=least + extra))
    assert least <= len(tokens) <= least + extra
    assert all(0 <= token < vocab_size for token in tokens)


@given(cs.offset_masks(windows=st.none() | cs.windows(), dtype="float32"))
def test_problems_are_whole_and_their_mask_is_right(problem: AttentionProblem) -> None:
    heads, chunk, width = problem.query.shape
    groups, length, _ = problem.key.shape
    assert problem.value.shape == problem.key.shape == (groups, length, width)
    assert heads % groups == 0
    assert problem.query.dtype == problem.key.dtype == np.float32
    assert length == problem.past + chunk
    assert 0 < problem.last_chunk <= problem.past or problem.past == problem.last_chunk == 0
    positions = (problem.query_positions, problem.key_positions)
    assert np.array_equal(problem.mask, offset_mask(*positions, window=problem.window))
    assert np.isfinite(problem.attend()).all()
    assert len(repr(problem)) < 120


@given(cs.configs(), st.data())
def test_every_configuration_makes_a_working_decoder(config: Config, data: st.DataObject) -> None:
    decoder = data.draw(cs.decoders(configs=st.just(config)))
    assert decoder.config == config
    assert decoder.full([0, 1]).shape == (2, config.row_width)


# --- corners and shares ---


def shares(window: int | None) -> dict[str, float]:
    """How often the interesting kinds come up among 400 partitions of drawn lengths."""
    counts: Counter[str] = Counter()
    lengths = cs.lengths(window=window)
    for chunks in sample(lengths.flatmap(cs.chunk_partitions), 400):
        past = 0
        longer = False
        for chunk in chunks:
            if past:
                counts["onto history"] += 1
                counts["several onto history"] += chunk > 1
                longer |= chunk > past
            past += chunk
        counts["partitions"] += 1
        counts["longer than history"] += longer
        counts["whole"] += len(chunks) == 1
        counts["one by one"] += past > 1 and max(chunks) == 1
        if window is not None:
            counts["around the window"] += past in {window - 1, window, window + 1, 2 * window}
    total = counts["partitions"]
    named = {name: counts[name] / total for name in counts}
    named["several onto history"] = counts["several onto history"] / counts["onto history"]
    return named


@pytest.mark.parametrize("window", [None, 4, 8])
def test_several_tokens_onto_history_dominate_and_long_chunks_are_common(
    window: int | None,
) -> None:
    share = shares(window)
    assert share["several onto history"] > 0.5
    assert share["longer than history"] > 0.35
    assert 0.02 < share["whole"] < 0.3
    assert share["one by one"] > 0.02
    if window is not None:
        assert share["around the window"] > 0.45


def test_attention_problems_are_mostly_chunks_onto_history() -> None:
    drawn = sample(cs.offset_masks(windows=st.none() | cs.windows()), 400)
    chunks = [len(problem.query_positions) for problem in drawn]
    onto = [chunk > 1 and p.past > 0 for chunk, p in zip(chunks, drawn, strict=True)]
    longer = [chunk > p.past > 0 for chunk, p in zip(chunks, drawn, strict=True)]
    assert np.mean(onto) > 0.6
    assert np.mean(longer) > 0.15
    assert any(p.past == 0 for p in drawn)
    assert {len(p.query) for p in drawn} == {1, 2, 4}


def test_every_wrong_mask_comes_up_and_mostly_differs() -> None:
    drawn = sample(cs.wrong_offset_masks(), 400)
    by_name = {name: [s.differs for s in drawn if s.name == name] for name in WRONG_MASKS}
    assert all(len(differ) > 15 for differ in by_name.values())
    assert all(any(differ) for differ in by_name.values())
    assert not all(spoilt.differs for spoilt in drawn)
    assert np.mean([spoilt.differs for spoilt in drawn]) > 0.5


# --- shrinking ---

Minimum = tuple[SearchStrategy[Any], Callable[[Any], bool], Any]

MINIMA: dict[str, Minimum] = {
    "seeds": (cs.seeds(), lambda seed: True, 0),
    "seeds above": (cs.seeds(), lambda seed: seed > 9, 10),
    "lengths": (cs.lengths(window=4), lambda length: True, 1),
    "lengths from the window's": (cs.lengths(window=4), lambda length: length >= 5, 5),
    "tokens": (cs.token_ids(32), lambda tokens: True, (0,)),
    "tokens with a 7": (cs.token_ids(32), lambda tokens: 7 in tokens, (7,)),
    "partition": (cs.chunk_partitions(9), lambda chunks: True, (9,)),
    "cut": (cs.chunk_partitions(9), lambda chunks: len(chunks) > 1, (1, 8)),
    "two cuts": (cs.chunk_partitions(9), lambda chunks: len(chunks) > 2, (1, 1, 7)),
    "all cuts": (cs.chunk_partitions(5), lambda chunks: max(chunks) == 1, (1, 1, 1, 1, 1)),
    "a chunk of 4 onto history": (
        cs.chunk_partitions(9),
        lambda chunks: any(chunk == 4 for chunk in chunks[1:]),
        (5, 4),
    ),
    "windows": (cs.windows(), lambda window: True, 1),
    "length, then cut": (
        cs.lengths().flatmap(cs.chunk_partitions),
        lambda chunks: len(chunks) > 1,
        (1, 1),
    ),
}


@pytest.mark.parametrize("name", MINIMA)
def test_shrinking_ends_at_the_documented_minimum(name: str) -> None:
    strategy, condition, expected = MINIMA[name]
    assert minimal(strategy, condition) == expected


def test_problems_shrink_to_one_token_without_a_past() -> None:
    problem = minimal(cs.offset_masks(windows=st.none() | cs.windows()))
    assert (problem.past, len(problem.query_positions), problem.window) == (0, 1, None)
    assert problem.query.shape == problem.key.shape == (1, 1, 8)


@pytest.mark.parametrize(
    ("name", "smallest"),
    [
        ("query-restart", (1, 1, None)),
        ("offset-too-small", (1, 1, None)),
        ("offset-too-large", (0, 2, None)),
        ("no-chunk-mask", (0, 2, None)),
        ("one-position", (0, 2, None)),
        ("last-chunk-offset", (2, 1, None)),
        ("window-from-last-row", (0, 2, 1)),
    ],
)
def test_each_wrong_mask_shrinks_to_the_smallest_problem_that_shows_it(
    name: str, smallest: tuple[int, int, int | None]
) -> None:
    def key(problem: AttentionProblem) -> tuple[int, int, int | None]:
        return problem.past, len(problem.query_positions), problem.window

    spoilt = minimal(cs.wrong_offset_masks(names=[name]), lambda drawn: drawn.differs)
    assert key(spoilt.problem) == smallest


def test_configurations_shrink_to_the_plainest_one() -> None:
    assert minimal(cs.configs()) == Config(
        vocab_size=2, width=8, layers=1, head_width=4, positions="none"
    )
    decoder = minimal(cs.decoders(), lambda drawn: drawn.config.window is not None)
    assert (decoder.config.window, decoder.config.layers, decoder.seed) == (1, 1, 0)


# --- arguments and names ---


@pytest.mark.parametrize(
    "define",
    [
        lambda: cs.seeds(min_value=-1),
        lambda: cs.seeds(min_value=5, max_value=4),
        lambda: cs.lengths(min_value=0),
        lambda: cs.lengths(window=0),
        lambda: cs.lengths(max_value=2.5),  # type: ignore[arg-type]
        lambda: cs.token_ids(0),
        lambda: cs.token_ids(4, min_size=3, max_size=2),
        lambda: cs.chunk_partitions(0),
        lambda: cs.chunk_partitions(3, min_chunks=4),
        lambda: cs.chunk_partitions(3, min_chunks=2, max_chunks=1),
        lambda: cs.windows(min_value=0),
        lambda: cs.offset_masks(max_past=-1),
        lambda: cs.offset_masks(max_chunk=0),
        lambda: cs.offset_masks(dtype="float16"),
        lambda: cs.wrong_offset_masks(names=["nothing"]),
        lambda: cs.wrong_offset_masks(names=[]),
        lambda: cs.configs(max_layers=0),
    ],
)
def test_impossible_arguments_are_refused_where_the_strategy_is_defined(
    define: Callable[[], object],
) -> None:
    with pytest.raises(InvalidArgument):
        define()


@pytest.mark.parametrize("name", sorted(set(cs.__all__)))
def test_each_strategy_is_documented_with_what_it_shrinks_towards(name: str) -> None:
    documented = getattr(cs, name)
    if isinstance(documented, type):
        return
    text = " ".join(documented.__doc__.split())
    kind = "machine" if name == "cache_machine" else "strategy"
    begin = {"strategy": "a strategy which generates ", "machine": "a Hypothesis state machine "}
    assert text.startswith(f"Returns {begin[kind]}")
    assert f"Examples from this {kind} shrink towards" in text
    assert text.count(">>> ") == 3


@pytest.mark.skipif(
    not (ROOT / "strategies").is_dir(), reason="a source distribution has the package's own alone"
)
@pytest.mark.parametrize("first", ["strategies", "cachecheck.strategies"])
def test_both_names_of_the_package_are_one_module(first: str) -> None:
    code = (
        f"import {first}, strategies, cachecheck.strategies as real\n"
        "import strategies.problems, strategies.sequences\n"
        "assert strategies is real\n"
        "assert strategies.problems.AttentionProblem is real.AttentionProblem\n"
        "import sys; files = [m.__file__ for m in sys.modules.values() if 'strategies' in "
        "str(getattr(m, '__file__', '')) and 'hypothesis' not in m.__file__]\n"
        "assert len(files) - len(set(files)) == int(sys.argv[1]), files  # all under both names\n"
        "assert len({id(m) for n, m in sys.modules.items() if n.endswith('sequences')}) == 1\n"
    )
    count = str(len(list((ROOT / "strategies").glob("*.py"))))
    subprocess.run([sys.executable, "-c", code, count], check=True, cwd=ROOT)


def test_the_problems_know_no_decoder() -> None:
    spoilt = minimal(cs.wrong_offset_masks())
    assert isinstance(spoilt, WrongMaskProblem)
    assert not isinstance(spoilt, ReferenceDecoder)
