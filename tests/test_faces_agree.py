"""One judge: every face gives the same answer on the same decoder and the same case."""

from __future__ import annotations

import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cachecheck.certify import LONGEST_TREE
from cachecheck.certify.oracle import Oracle
from cachecheck.certify.tree import by_tree
from cachecheck.commands.shrink import Reduction, Request
from cachecheck.judge import Trial, alone
from cachecheck.laws import LAWS
from cachecheck.replay import Replayed, replay, save_failure
from cachecheck.schedule import Case, Schedule, partitions
from cachecheck.schedule.schedule import token_count
from cachecheck.search import search
from cachecheck.search.cases import Effort
from cachecheck.session.decoder_name import DecoderName
from cachecheck.session.outcome import LawOutcome
from cachecheck.strategies import cache_machine
from cachecheck.target import load_target
from cachecheck.verdict import Answer, Verdict
from cachecheck.zoo.cells import Cell
from tests.drawn_decoders import SIZE, make

LAW_IDS = ("schedule", "prefix", "causality", "determinism", "frame", "sensitivity", "branch")
SCHEDULES = ("1+1", "2+1", "1+2", "1+1+1", "3+2", "1+4", "4", "2+2+2")
PROGRAMS = ("1 b=a b:1 1", "2 b=a b:2 1", "3 b=new b:1 1")
PASSES = {
    Replayed.FIXED: Answer.HOLDS,
    Replayed.FAILED: Answer.VIOLATED,
    Replayed.INCONCLUSIVE: Answer.INCONCLUSIVE,
    Replayed.ERROR: Answer.ERROR,
}


def pair(number: int) -> tuple[str, str, Case]:
    """A target, a law and a case of it, from a number."""
    rng = random.Random(f"pair {number}")  # noqa: S311 - nothing secret about it
    law = rng.choice(LAW_IDS) if number else "schedule"
    schedules = PROGRAMS if LAWS[law].operations else SCHEDULES
    fitting = [one for one in schedules if len(Schedule.parse(one).steps) >= LAWS[law].least_calls]
    schedule = Schedule.parse(rng.choice(fitting))
    tokens = tuple(rng.randrange(SIZE) for _ in range(schedule.length))
    return f"tests.drawn_decoders:d{number}", law, Case(tokens, schedule)


def by_judge(target: str, law: str, case: Case) -> Verdict:
    decoder = load_target(target).make(0)
    return alone(LAWS[law], Trial(0, decoder, case))


def by_search(target: str, law: str, case: Case) -> Verdict:
    effort = Effort(examples=0, known=((0, case),))
    return search(LAWS[law], load_target(target), effort)[0]


def by_pytest(verdict: Verdict) -> Answer:
    """What pytest makes of it: a test passes where the law holds, and nowhere else."""
    test: Any = SimpleNamespace(config=SimpleNamespace(getoption=lambda _name: False))
    try:
        LawOutcome(verdict, DecoderName("drawn", "drawn")).end(test, allow_inconclusive=False)
    except pytest.fail.Exception:
        return verdict.answer if verdict.answer is not Answer.HOLDS else Answer.ERROR
    except pytest.skip.Exception:
        return Answer.UNSUPPORTED
    return Answer.HOLDS


def by_shrinking(target: str, law: str, case: Case) -> Answer:
    tokens = tuple(case.tokens)
    return Reduction(Request(target, str(case.schedule), law=law, tokens=tokens)).run().answer


def by_replay(target: str, law: str, case: Case, folder: Path) -> Answer:
    known = Verdict(
        law, Answer.VIOLATED, schedule=str(case.schedule), tokens=case.tokens, decoder_seed=0
    )
    return PASSES[replay(save_failure(known, target, folder))[0]]


def by_machine(number: int, case: Case) -> Answer:
    """What the state machine says when it takes the steps of the case."""

    class Zero:
        def draw(self, *_given: Any) -> int:
            return 0

    machine: Any = cache_machine(make(number))()
    machine.start(Zero())
    try:
        at = 0
        for step in case.schedule.steps:
            size = token_count(step)
            machine._take(step, list(case.tokens[at : at + size]))
            at += size
        machine.teardown()
    except AssertionError as failure:
        return Answer.INCONCLUSIVE if "INCONCLUSIVE" in str(failure) else Answer.VIOLATED
    return Answer.HOLDS


def by_certificate(target: str, tokens: tuple[int, ...]) -> Answer:
    return by_tree(Oracle(load_target(target).make(0), tokens)).answer


def of_all_partitions(target: str, tokens: tuple[int, ...]) -> Answer:
    """What a certificate has to say, from each partition by itself."""
    said = {
        by_judge(target, "schedule", Case(tokens, schedule)).answer
        for schedule in partitions(len(tokens))
    }
    order = (Answer.VIOLATED, Answer.INCONCLUSIVE, Answer.HOLDS)
    return next(answer for answer in order if answer in said)


def check(number: int, folder: Path) -> Answer:
    """All faces on one pair; the answer that they share."""
    target, law, case = pair(number)
    verdict = by_judge(target, law, case)
    searched = by_search(target, law, case)
    said = {
        "search": searched.answer,
        "pytest": by_pytest(searched),
        "zoo": Answer(Cell.of("drawn", "any", searched).answer),
        "shrink": by_shrinking(target, law, case),
        "replay": by_replay(target, law, case, folder),
    }
    if law in ("schedule", "branch"):
        said["machine"] = by_machine(number, case)
    assert said == dict.fromkeys(said, verdict.answer), (number, law, str(case.schedule), verdict)
    if law == "schedule":
        assert len(case.tokens) <= LONGEST_TREE
        certified = by_certificate(target, case.tokens)
        assert certified is of_all_partitions(target, case.tokens), (number, case)
    return verdict.answer


@settings(suppress_health_check=[HealthCheck.nested_given])  # the search draws by Hypothesis too
@given(number=st.integers(0, 499))
def test_all_faces_agree_on_a_drawn_pair(
    number: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    check(number, tmp_path_factory.mktemp("stored"))


@pytest.mark.slow
def test_all_faces_agree_on_500_drawn_pairs(tmp_path: Path) -> None:
    said = [check(number, tmp_path) for number in range(500)]
    for answer in (Answer.HOLDS, Answer.VIOLATED, Answer.INCONCLUSIVE):
        assert said.count(answer) >= 50, "the pairs are to be of every kind"


def test_a_full_pass_off_by_more_than_a_mild_mistake_is_inconclusive_on_every_face(
    tmp_path: Path,
) -> None:
    """It was INCONCLUSIVE in fuzz, VIOLATED in shrink and certify, FAILED in replay."""
    assert check(0, tmp_path) is Answer.INCONCLUSIVE
