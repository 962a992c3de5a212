"""The catalogue of deliberate faults: well formed, complete, caught, and as small as certified."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest

from benchmarks.kills import CANARY, hits
from cachecheck.certify import smallest_failing
from cachecheck.cli import main
from cachecheck.errors import CachecheckError, InputError
from cachecheck.faults import FAULTS, KINDS, Fault, fault_named
from cachecheck.faults.late import CONDITIONS, CallFacts
from cachecheck.guard import Guarded
from cachecheck.judge import examine
from cachecheck.laws import LAWS
from cachecheck.reference.caches import CACHES
from cachecheck.reference.config import Precision
from cachecheck.schedule import Schedule
from cachecheck.search import search
from cachecheck.search.cases import Effort, numbered_cases
from cachecheck.target import as_target
from cachecheck.verdict import Answer

LONG = {
    "static-fork-shares-buffers",
    "static-fork-shares-values",
    "shared-tip-overwritten",
    "paged-no-copy-on-write",
    "paged-read-as-contiguous",
    "hybrid-reorder-skips-layer",
    "batched-merge-swaps-rows",
    "batched-merge-shares-cursor",
    "batched-merge-takes-first-length",
    "batched-merge-values-from-keys",
    "batched-reorder-keeps-lengths",
    "batched-reorder-skips-last-row",
    "batched-split-keeps-pads",
    "prefix-hit-in-wrong-slot",
}
"""What takes many seconds to certify: the kill matrix does."""

by_fault = pytest.mark.parametrize("fault", FAULTS.values(), ids=list(FAULTS))

SHORT = [fault for fault in FAULTS.values() if fault.id not in LONG]

ONE_A_MECHANISM = list({(f.host, f.mechanism, f.law): f for f in FAULTS.values()}.values())
"""One fault for each host, mechanism and law: those that the default tests look at."""


def caught_after(fault: Fault, dtype: Precision, most: int) -> int | None:
    """How many drawn cases its law takes to catch a fault, nothing shrunk; None if not caught."""
    target = as_target(partial(fault.make, dtype=dtype), fault.id)
    law = LAWS[fault.law]
    numbered = numbered_cases(target.make, range(target.seeds), law, Effort())
    for number in range(most):
        drawn = numbered(number)
        try:
            judged = examine(law, drawn.decoder, drawn.case)
        except CachecheckError:
            continue
        if judged.wrong:
            return number + 1
    return None


@pytest.mark.parametrize("fault", ONE_A_MECHANISM, ids=lambda fault: fault.id)
def test_a_fault_of_each_mechanism_is_caught_within_the_default_budget(fault: Fault) -> None:
    assert caught_after(fault, "float64", 200) is not None
    assert caught_after(fault, "float32", 200) is not None


@pytest.mark.slow
@pytest.mark.parametrize("fault", ONE_A_MECHANISM, ids=lambda fault: fault.id)
def test_a_fault_is_caught_by_its_law_and_shrunk_to_the_smallest_schedule(fault: Fault) -> None:
    target = as_target(fault.make, fault.id)
    verdict, _ = search(LAWS[fault.law], target, Effort(seed=0))
    assert verdict.answer is Answer.VIOLATED, verdict.message
    assert verdict.decoder_seed is not None
    if verdict.decoder_seed == 0 and verdict.schedule == fault.smallest:
        return  # certified in the next test, or by the kill matrix
    if fault.id in LONG:
        pytest.skip("takes long to certify on another decoder: the kill matrix does")
    decoder = target.make(verdict.decoder_seed)
    found = smallest_failing(decoder, LAWS[fault.law], verdict.schedule or "")
    if found != verdict.schedule:  # other tokens may show a smaller one than those enumerated
        ids = verdict.tokens
        found = smallest_failing(decoder, LAWS[fault.law], verdict.schedule or "", ids=ids)
    assert verdict.schedule == found


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [fault for fault in FAULTS.values() if fault.id not in LONG],
    ids=lambda fault: fault.id,
)
def test_the_smallest_schedule_that_the_catalogue_names_is_the_certified_one(fault: Fault) -> None:
    decoder = as_target(fault.make, fault.id).make(0)
    assert smallest_failing(decoder, LAWS[fault.law], fault.smallest) == fault.smallest


@pytest.mark.slow
@by_fault
def test_a_fault_changes_something(fault: Fault) -> None:
    assert hits(fault, LAWS[fault.law], "float64") > 0


@pytest.mark.slow
@pytest.mark.parametrize("fault", ONE_A_MECHANISM, ids=lambda fault: fault.id)
def test_the_right_decoder_passes_the_law_that_catches_its_fault(fault: Fault) -> None:
    target = as_target(fault.right, fault.host)
    verdict, _ = search(LAWS[fault.law], target, Effort(seed=0, examples=20))
    if fault.host == "hybrid" and fault.law == "crop":
        # It refuses nearly every rollback. Whether one case in ten goes through is a matter of the
        # draw, and that changes with the constants which Hypothesis finds in the sources.
        assert verdict.answer in (Answer.HOLDS, Answer.UNSUPPORTED), verdict.message
        return
    assert verdict.answer is Answer.HOLDS, verdict.message


def test_there_are_at_least_sixty_and_every_kind_that_can_be_modelled_has_one() -> None:
    assert len(FAULTS) >= 60
    modelled = {fault.kind for fault in FAULTS.values()}
    assert modelled == {kind.id for kind in KINDS.values() if not kind.unmodelled}
    assert len(KINDS) == 43
    assert sum(len(kind.reports) for kind in KINDS.values()) == 214


def test_every_law_is_the_one_that_some_fault_is_expected_to_break() -> None:
    named = {fault.law for fault in FAULTS.values()}
    # What breaks padding breaks batch as well, which says more; the kill matrix has both.
    assert named == set(LAWS) - {"padding"}


def test_faults_are_well_formed() -> None:
    for name, fault in FAULTS.items():
        assert name == fault.id
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", name)
        assert name.startswith(f"{fault.host}-")
        assert fault.host in CACHES
        assert fault.law in LAWS
        assert set(fault.reports) <= set(KINDS[fault.kind].reports)
        assert all(re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", report) for report in fault.reports)
        assert str(Schedule.parse(fault.smallest)) == fault.smallest
        assert re.fullmatch(r"[A-Z][^.]+\.", fault.symptom)
    always = [fault.symptom for fault in FAULTS.values() if not fault.when]
    assert len(set(always)) == len(always)


@pytest.mark.parametrize(
    ("condition", "meets", "fails"),
    [
        ("third-call", CallFacts(2, 1, 2, None), CallFacts(2, 1, 1, None)),
        ("history-16", CallFacts(16, 1, 1, None), CallFacts(15, 1, 9, None)),
        ("long-chunk", CallFacts(3, 4, 1, None), CallFacts(4, 4, 1, None)),
        ("block-boundary", CallFacts(8, 1, 1, None), CallFacts(9, 1, 1, None)),
        ("window-boundary", CallFacts(5, 1, 1, 5), CallFacts(5, 1, 1, None)),
        ("twice-wrapped", CallFacts(10, 1, 1, 5), CallFacts(9, 1, 1, 5)),
        ("big-chunk", CallFacts(0, 9, 0, None), CallFacts(0, 8, 0, None)),
    ],
)
def test_conditions_are_met_when_they_say_so(
    condition: str, meets: CallFacts, fails: CallFacts
) -> None:
    when = CONDITIONS[condition][1]
    assert when(meets)
    assert not when(fails)


def test_a_late_fault_is_right_before_its_condition_is_met() -> None:
    decoder = Guarded(FAULTS["copying-mask-one-far-third-call"].make(0))
    tokens = [1, 2, 3, 4, 5]
    cache, rows = decoder.new_cache(), []
    for start, stop in ((0, 2), (2, 4), (4, 5)):
        some, cache = decoder.extend(tokens[start:stop], cache)
        rows += list(some)
    assert abs(decoder.full(tokens) - rows).max() < 1e-12  # its third call has no later token
    _, cache = decoder.extend(tokens[:1], decoder.new_cache())
    _, cache = decoder.extend(tokens[1:2], cache)
    wrong, _ = decoder.extend(tokens[2:4], cache)
    assert abs(decoder.full(tokens[:4])[2:] - wrong).max() > 1e-3


def test_a_law_that_is_always_broken_is_reported_whoever_runs_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verdict, _ = search(CANARY, as_target(CACHES["copying"], "copying"), Effort(examples=5))
    assert verdict.answer is Answer.VIOLATED
    monkeypatch.chdir(tmp_path)
    laws = {**LAWS, "canary": CANARY}
    for room in ("session.law_run", "commands.fuzz", "report.summary", "replay.failure"):
        monkeypatch.setattr(f"cachecheck.{room}.LAWS", laws)
    code = main(["fuzz", "reference", "--law", "canary", "--examples", "5"])
    assert code == 1
    assert "VIOLATED  canary   reference" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "parts"),
    [
        (
            ["faults", "--law", "overflow"],
            0,
            ["static-overflow-clamps", f"of {len(FAULTS)} faults"],
        ),
        (["faults", "copying-mask-missing"], 0, ["huggingface/transformers#31943", "see it"]),
        (["faults", "--kinds"], 0, ["masked-row-nan", "faults      none: no mistake at all"]),
    ],
)
def test_the_command_lists_and_tells(
    arguments: list[str], code: int, parts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == code
    out = capsys.readouterr().out
    for part in parts:
        assert part in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["faults", "copying-mask-mising"], "did you mean copying-mask-missing"),
        (["fuzz", "reference", "--fault", "x"], "unknown fault 'x'"),
        (["fuzz", "mine.py:make", "--fault", "copying-mask-missing"], "goes with the target"),
    ],
)
def test_an_unknown_fault_is_refused_in_one_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_a_fault_is_fuzzed_by_its_id(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["--law", "schedule", "--examples", "20"]
    assert main(["fuzz", "reference", "--fault", "copying-mask-one-short", *options]) == 1
    out = capsys.readouterr().out
    assert "VIOLATED  schedule   fault:copying-mask-one-short   seed 0" in out
    assert "smallest schedule   1+1" in out
    (stored,) = (tmp_path / "evidence" / "regressions").glob("*.json")
    assert main(["replay", str(stored)]) == 1


def test_unknown_names_raise_with_what_is_near() -> None:
    with pytest.raises(InputError, match="did you mean"):
        fault_named("copying-mask-topleft")
