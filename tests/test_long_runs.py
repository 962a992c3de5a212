"""Long runs: by the clock, in shards, beside decoders that hang; nothing that was found is lost."""

from __future__ import annotations

import io
import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from cachecheck.laws import LAWS
from cachecheck.report.covered import print_coverage
from cachecheck.schedule import Case, Schedule
from cachecheck.schedule.coverage import CHUNKS, PASTS, WINDOWS, classes_of
from cachecheck.session.run_folder import ShardResult, merged
from cachecheck.shrink import size_of
from cachecheck.verdict import Answer, Verdict, Violation
from tests import test_cli
from tests.test_cli import TESTS, Ran
from tests.test_cli_process import LIMIT, finish, start

pytestmark = pytest.mark.slow

cachecheck = test_cli.cachecheck  # the fixture: a command line, run in an empty folder
Run = Callable[..., Ran]

OFFERED = [
    *("causality", "prefix", "determinism", "schedule"),
    *("frame", "sensitivity", "branch", "programs"),
]


def written(file: str = "out.json") -> dict[str, dict[str, Any]]:
    """The verdicts of a run that wrote them, by law."""
    return {one["law"]: one for one in json.loads(Path(file).read_text())["verdicts"]}


def table(out: str) -> dict[str, list[int]]:
    """The printed coverage table: the counts by past, one for each class of chunk."""
    lines = out.splitlines()
    (at,) = [number for number, line in enumerate(lines) if line.startswith("calls by past")]
    assert lines[at].split("   ")[1:] == [f"chunk {chunk}" for chunk in CHUNKS]
    rows = [line.split() for line in lines[at + 1 : at + 1 + len(PASTS)]]
    return {past: [int(count.replace(",", "")) for count in counts] for past, *counts in rows}


# Merging, as a property.

SCHEDULES = st.lists(st.integers(1, 4), min_size=1, max_size=4).map(Schedule.of)
COVERED = st.dictionaries(
    st.sampled_from(["0|1|none", "1|2-7|none", "16+|8+|beyond"]), st.integers(1, 99)
)


@st.composite
def results(draw: st.DrawFn) -> ShardResult:
    """Results that a shard may have."""
    answer = draw(st.sampled_from(Answer))
    found: dict[str, Any] = {}
    if answer in (Answer.VIOLATED, Answer.ERROR) and (
        answer is Answer.VIOLATED or draw(st.booleans())
    ):
        schedule = draw(SCHEDULES)
        tokens = draw(st.tuples(*[st.integers(0, 7)] * schedule.length))
        found = {
            "schedule": str(schedule),
            "tokens": tokens,
            "decoder_seed": draw(st.integers(0, 3)),
        }
    if answer is Answer.VIOLATED:
        found["violation"] = Violation("schedule", "rows", 1, 1.0, 0.1, "wrong")
    verdict = Verdict(
        "schedule",
        answer,
        examples=draw(st.integers(0, 1000)),
        seconds=draw(st.integers(0, 100)) / 4,
        covered=tuple(sorted(draw(COVERED).items())),
        **found,
    )
    replay = f"{draw(st.integers(0, 9))}.json" if "schedule" in found else None
    return ShardResult(verdict, replay)


GRAVEST = (Answer.VIOLATED, Answer.ERROR, Answer.INCONCLUSIVE, Answer.HOLDS, Answer.UNSUPPORTED)


def size(one: ShardResult) -> Any:
    """By what a case is smaller; what has none before what has one."""
    schedule, tokens = one.verdict.schedule, one.verdict.tokens
    return size_of(Case(tokens, Schedule.parse(schedule))) if schedule and tokens else ()


@given(st.lists(results(), min_size=1, max_size=5))
def test_the_gravest_answer_wins_with_its_smallest_case_and_counts_add_up(
    found: list[ShardResult],
) -> None:
    whole = merged(found)
    gravest = min((one.verdict.answer for one in found), key=GRAVEST.index)
    assert whole.verdict.answer is gravest
    among = [one for one in found if one.verdict.answer is gravest]
    assert size(whole) == min(map(size, among))
    same = [
        one
        for one in among
        if (one.verdict.schedule, one.replay) == (whole.verdict.schedule, whole.replay)
    ]
    assert same  # the file is that of the case
    assert whole.verdict.examples == sum(one.verdict.examples for one in found)
    assert whole.verdict.seconds == sum(one.verdict.seconds for one in found)
    counts: Counter[str] = Counter()
    for one in found:
        counts.update(dict(one.verdict.covered))
    assert dict(whole.verdict.covered) == counts


@given(st.lists(results(), min_size=1, max_size=3))
def test_merging_depends_on_no_order_and_one_alone_stays_as_it_is(found: list[ShardResult]) -> None:
    alone = merged(found[:1])
    assert alone == found[0]
    verdicts = [merged(order).verdict for order in permutations(found)]
    assert len({(one.answer, one.schedule, one.examples, one.covered) for one in verdicts}) == 1


# The table of coverage.


@given(st.lists(st.tuples(SCHEDULES, st.none() | st.integers(1, 6)), min_size=1, max_size=8))
def test_the_table_counts_each_call_once(cases: list[tuple[Schedule, int | None]]) -> None:
    covered: Counter[tuple[str, str, str]] = Counter()
    for schedule, window in cases:
        covered += classes_of(schedule, window)
    wire = tuple(("|".join(key), count) for key, count in covered.items())
    console = Console(width=100, record=True, file=io.StringIO())
    print_coverage(console, [Verdict("schedule", Answer.HOLDS, 6, 2.0, covered=wire)])
    out = console.export_text()
    rows = table(out)
    assert sum(map(sum, rows.values())) == sum(len(schedule.steps) for schedule, _ in cases)
    for past, counts in rows.items():
        for chunk, count in zip(CHUNKS, counts, strict=True):
            assert count == sum(covered[past, chunk, window] for window in WINDOWS)
    assert sum(rows["0"]) == len(cases)  # each schedule has one call onto nothing
    assert "6 examples, 3 a second\n" in out


# By the clock.


def test_a_run_by_the_clock_ends_in_time_and_says_what_it_has_reached(cachecheck: Run) -> None:
    began = time.monotonic()
    ran = cachecheck(
        *("fuzz", f"{TESTS}:Sums", "--time", "1.5s", "--json", "out.json"),
        *("--law", "causality", "--law", "schedule"),
    )
    took = time.monotonic() - began
    assert (ran.code, ran.err) == (0, "")
    assert 1.4 < took < 6
    assert ran.out.startswith(f"{TESTS}:Sums   seed 0, 1.5 seconds\n")
    found = written()
    assert {one["verdict"] for one in found.values()} == {"HOLDS"}
    assert min(one["examples"] for one in found.values()) > 10  # each had its share of the time
    rows = table(ran.out)
    assert list(rows) == list(PASTS)
    assert sum(map(sum, rows.values())) == sum(
        count for one in found.values() for count in one["covered"].values()
    )
    assert min(map(sum, rows.values())) > 0
    examples = sum(one["examples"] for one in found.values())
    assert f"\n{examples:,} examples, " in ran.out
    assert ran.out.endswith(" a second\n")


def test_more_time_is_more_examples_beyond_what_any_effort_says(cachecheck: Run) -> None:
    counts = []
    for seconds in ("0.1s", "0.7s"):
        options = ("--time", seconds, "--law", "prefix", "--effort", "quick", "--json", "out.json")
        assert cachecheck("fuzz", f"{TESTS}:Sums", *options).code == 0
        counts.append(written()["prefix"]["examples"])
    assert counts[1] > 2 * counts[0]
    assert counts[1] > 50


def test_the_time_counts_however_many_cases_are_named_beside_it(cachecheck: Run) -> None:
    """Many cases that are cut short by the clock are not drawn to their end."""
    began = time.monotonic()
    options = ("--time", "0.3s", "--examples", "10000", "--law", "prefix")
    assert cachecheck("fuzz", f"{TESTS}:Sums", *options).code == 0
    assert time.monotonic() - began < 3


def test_however_short_the_time_every_law_gets_a_case(cachecheck: Run) -> None:
    cachecheck("fuzz", f"{TESTS}:Sums", "--time", "0.01s", "--json", "out.json")
    found = written()
    assert list(found) == list(LAWS)
    without = [law for law in OFFERED if found[law]["examples"] == 0]
    assert without == []
    assert {found[law]["verdict"] for law in OFFERED} <= {"HOLDS", "INCONCLUSIVE"}


def test_a_violation_found_early_is_kept_and_leaves_its_time_to_others(cachecheck: Run) -> None:
    ran = cachecheck(
        *("fuzz", f"{TESTS}:ForgetsOffset", "--time", "1s", "--json", "out.json"),
        *("--law", "prefix", "--law", "schedule"),
    )
    assert (ran.code, ran.err) == (1, "")
    assert "VIOLATED  schedule   " in ran.out
    found = written()
    assert (found["schedule"]["verdict"], found["schedule"]["schedule"]) == ("VIOLATED", "1+2")
    assert found["prefix"]["verdict"] == "HOLDS"
    (stored,) = Path("evidence/regressions").iterdir()
    assert f"cachecheck replay evidence/regressions/{stored.name}" in ran.out
    assert json.loads(stored.read_text())["schedule"] == "1+2"


def test_ctrl_c_before_the_time_is_up_prints_what_is_known(tmp_path: Path) -> None:
    process = start(
        tmp_path,
        *("fuzz", f"{TESTS}:Marks", "--time", "1h", "--json", "out.json"),
        *("--law", "causality", "--law", "prefix"),
    )
    deadline = time.monotonic() + LIMIT
    while not (tmp_path / "at-work").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)  # so that the count of cases, noted every 0.1 s, is there
    os.killpg(process.pid, signal.SIGINT)
    code, out, err = finish(process)
    assert (code, err) == (130, "")
    assert "interrupted: 0 of 2 laws were done\n  causality: none of " in out
    assert "Traceback" not in out
    assert json.loads((tmp_path / "out.json").read_text())["verdicts"] == []


# Shards.


def test_shards_of_a_law_come_back_as_one_verdict(cachecheck: Run) -> None:
    ran = cachecheck(
        *("fuzz", f"{TESTS}:ForgetsOffset", "--shards", "2", "-n", "2", "--examples", "40"),
        *("--law", "prefix", "--law", "schedule", "--law", "crop", "--json", "out.json"),
    )
    assert (ran.code, ran.err) == (1, "")
    assert [line.split()[:3] for line in ran.out.splitlines() if line.startswith("prefix ")] == [
        ["prefix", "HOLDS", "40"]
    ]
    assert ran.out.count("VIOLATED  schedule   ") == 1
    assert "  smallest schedule   1+2            3 tokens [0, 0, 0]\n" in ran.out
    assert "1 of 2 laws violated: schedule" in ran.out
    found = written()
    assert list(found) == ["prefix", "schedule", "crop"]
    assert found["prefix"]["examples"] == 40
    assert found["crop"]["verdict"] == "UNSUPPORTED"


def test_shards_that_run_by_the_clock_draw_other_cases_to_the_end(cachecheck: Run) -> None:
    Path("mine.py").write_text(
        f"from {TESTS} import *\n"
        "class Records(Sums):\n"
        "    def full(self, tokens):\n"
        "        name = os.environ['PYTEST_CURRENT_TEST'].rpartition('-')[2][0]\n"
        "        with open(f'seen{name}', 'a') as seen: print(*tokens, file=seen)\n"
        "        return super().full(tokens)\n"
    )
    options = ("--law", "prefix", "--effort", "quick", "--time", "1s", "--shards", "2")
    assert cachecheck("fuzz", "mine.py:Records", *options).code == 0
    first, second = (
        {line for line in Path(f"seen{shard}").read_text().splitlines() if line.count(" ") > 7}
        for shard in range(2)
    )
    few = min(len(first), len(second))
    assert few > 30  # beyond the first round of 25
    assert len(first & second) < few / 10


def test_shards_draw_other_cases_than_each_other(cachecheck: Run) -> None:
    Path("mine.py").write_text(
        f"from {TESTS} import *\n"
        "class Records(Sums):\n"
        "    def full(self, tokens):\n"
        "        with open('seen', 'a') as seen: print(*tokens, file=seen)\n"
        "        return super().full(tokens)\n"
    )
    options = ("--law", "schedule", "--seed", "5", "--examples")
    assert cachecheck("fuzz", "mine.py:Records", *options, "60", "--shards", "3").code == 0
    several = len(set(Path("seen").read_text().splitlines()))
    Path("seen").unlink()
    assert cachecheck("fuzz", "mine.py:Records", *options, "20").code == 0
    one = len(set(Path("seen").read_text().splitlines()))
    assert several > 2 * one


# Calls that hang.


def test_a_call_that_hangs_in_python_is_said_to_hang(cachecheck: Run) -> None:
    began = time.monotonic()
    ran = cachecheck(
        *("fuzz", f"{TESTS}:Loops", "--call-timeout", "1s", "--examples", "20"),
        *("--law", "prefix", "--law", "schedule", "--json", "out.json"),
    )
    assert time.monotonic() - began < 10
    assert (ran.code, ran.err) == (2, "")
    assert f"ERROR  schedule   {TESTS}:Loops   seed " in ran.out
    assert " did not return within 1 s: the decoder hangs" in ran.out
    found = written()
    assert (found["prefix"]["verdict"], found["prefix"]["examples"]) == ("HOLDS", 20)
    assert found["schedule"]["verdict"] == "ERROR"


def test_a_call_that_cannot_be_interrupted_ends_its_worker_and_names_the_file(
    cachecheck: Run,
) -> None:
    began = time.monotonic()
    ran = cachecheck(
        *("fuzz", f"{TESTS}:Sleeps", "--call-timeout", "0.5s", "--examples", "20"),
        *("--law", "prefix", "--law", "schedule", "--law", "crop", "--json", "out.json"),
    )
    assert time.monotonic() - began < 20
    assert (ran.code, ran.err) == (2, "")
    lines = (Path(__file__).with_name("decoders_for_tests.py")).read_text().splitlines()
    (at,) = [number for number, line in enumerate(lines, 1) if "time.sleep(1000)" in line]
    assert (
        "ERROR  schedule   a call did not return in time and could not be interrupted: the decoder "
        f"hangs in native code, called from decoders_for_tests.py:{at}; its process was ended"
    ) in ran.out
    found = written()
    assert [(law, one["verdict"]) for law, one in found.items()] == [
        ("prefix", "HOLDS"),
        ("schedule", "ERROR"),
        ("crop", "UNSUPPORTED"),
    ]


# Wrong values.


@pytest.mark.parametrize("option", ["--time", "--call-timeout"])
@pytest.mark.parametrize(
    "value", ["0", "0s", "-1s", "1d", "s", "", "soon", "nan", "inf", "1e3", "1 s"]
)
def test_a_time_that_is_none_is_refused_in_one_line(
    cachecheck: Run, option: str, value: str
) -> None:
    ran = cachecheck("fuzz", f"{TESTS}:Sums", f"{option}={value}")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines()[-1] == (
        f"cachecheck fuzz: error: argument {option}: expected a time like 90s, 10m or 1h, "
        f"got {value!r}"
    )


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "two", ""])
def test_a_number_of_shards_that_is_none_is_refused_in_one_line(
    cachecheck: Run, value: str
) -> None:
    ran = cachecheck("fuzz", f"{TESTS}:Sums", f"--shards={value}")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines()[-1] == (
        f"cachecheck fuzz: error: argument --shards: expected an integer >= 1, got {value!r}"
    )
