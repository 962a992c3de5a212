"""The folder of a run: what a worker leaves there is what the command reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cachecheck.errors import InputError
from cachecheck.session.run_folder import Progress, RunFolder, ShardResult
from cachecheck.verdict import Answer, Margin, Verdict, Violation

NUMBERS = st.floats(0, 1e9, allow_nan=False)
COUNTS = st.integers(0, 10**6)
MAYBE_COUNT = st.none() | COUNTS
WORDS = st.text(st.characters(categories=("L", "N", "P", "S", "Zs")), max_size=12)
VIOLATIONS = st.builds(
    Violation,
    law=WORDS,
    kind=WORDS,
    position=MAYBE_COUNT,
    difference=st.none() | NUMBERS,
    tolerance=NUMBERS,
    message=WORDS,
    call=MAYBE_COUNT,
    row=MAYBE_COUNT,
    sequence=MAYBE_COUNT,
)
MARGINS = st.builds(Margin, NUMBERS, NUMBERS, st.none() | NUMBERS, WORDS, COUNTS)
VERDICTS = st.builds(
    Verdict,
    law=st.just("schedule"),
    answer=st.sampled_from(Answer),
    examples=COUNTS,
    seconds=NUMBERS,
    largest_difference=st.none() | NUMBERS,
    tolerance=st.none() | NUMBERS,
    schedule=st.none() | WORDS,
    tokens=st.none() | st.lists(COUNTS, max_size=4).map(tuple),
    decoder_seed=MAYBE_COUNT,
    violation=st.none() | VIOLATIONS,
    message=WORDS,
    covered=st.lists(st.tuples(WORDS, COUNTS), max_size=3).map(tuple),
    margin=st.none() | MARGINS,
)


@given(st.lists(st.builds(ShardResult, VERDICTS, st.none() | WORDS), min_size=1, max_size=3))
def test_results_come_back_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, results: list[ShardResult]
) -> None:
    path = tmp_path_factory.mktemp("run")
    for shard, result in enumerate(results):
        RunFolder(path, len(results)).write_result(shard, result)
    back = RunFolder(path, len(results)).finished("schedule")
    assert back == results
    assert [hash(one) for one in back] == [hash(one) for one in results]
    assert RunFolder(path, len(results)).unfinished(["schedule", "prefix"]) == len(results)


@given(st.lists(st.builds(Progress, COUNTS, COUNTS), min_size=1, max_size=3))
def test_progress_of_shards_adds_up_until_they_have_a_result(
    tmp_path_factory: pytest.TempPathFactory, shards: list[Progress]
) -> None:
    folder = RunFolder(tmp_path_factory.mktemp("run"), len(shards))
    assert folder.running(["schedule"]) == {}
    for shard, progress in enumerate(shards):
        folder.write_progress("schedule", shard, progress)
    running = folder.running(["prefix", "schedule"])
    most = max(one.classes for one in shards)
    assert running == {"schedule": Progress(sum(one.cases for one in shards), most)}
    for shard in range(len(shards)):
        folder.write_result(shard, ShardResult(Verdict("schedule", Answer.HOLDS)))
    assert folder.running(["schedule"]) == {}


def test_a_result_that_somebody_damaged_is_an_error_and_not_a_pass(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.write_result(0, ShardResult(Verdict("schedule", Answer.VIOLATED)))
    (file,) = tmp_path.iterdir()
    file.write_text(file.read_text().replace("VIOLATED", "FINE"))
    with pytest.raises(InputError, match="FINE"):
        folder.finished("schedule")
