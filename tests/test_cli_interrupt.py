"""Ctrl-C at the worst moments: a failure that is known already is not lost."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import pytest

from cachecheck.cli import main
from cachecheck.laws import LAWS
from cachecheck.search import InterruptedSearchError, search
from cachecheck.search.cases import Effort
from cachecheck.target import as_target
from cachecheck.verdict import Answer, Verdict
from tests.decoders_for_tests import CtrlC, CtrlCLate

SCHEDULE = LAWS["schedule"]
UNFINISHED = "interrupted while shrinking: a smaller schedule may exist"


def outcome(decoder: type[CtrlC], stop: int) -> Verdict | None:
    """What is known of `schedule` when Ctrl-C comes on call ``stop`` of extend; None if nothing."""
    decoder.calls, decoder.stop = 0, stop
    try:
        return search(SCHEDULE, as_target(decoder, "decoder"), Effort(examples=20))[0]
    except InterruptedSearchError as stopped:
        return stopped.verdict
    except KeyboardInterrupt:
        return None


def calls_of(decoder: type[CtrlC]) -> int:
    """Calls of extend in a search that nobody interrupts."""
    assert outcome(decoder, stop=0) is not None
    return decoder.calls


def test_from_the_first_failure_on_an_interrupt_at_any_call_keeps_it() -> None:
    """Hypothesis shrinks first, then we do; both take calls, and both may be interrupted."""
    total = calls_of(CtrlC)
    stops = [*range(1, total, 6), total]
    known = [outcome(CtrlC, stop) for stop in stops]
    first = next(at for at, verdict in enumerate(known) if verdict is not None)
    lost = [stop for stop, verdict in list(zip(stops, known, strict=True))[first:] if not verdict]
    assert lost == []
    for verdict in known[first:]:
        assert verdict is not None
        assert (verdict.answer, verdict.law) == (Answer.VIOLATED, "schedule")
        assert verdict.schedule is not None
        assert UNFINISHED in verdict.message


def test_from_the_first_error_on_an_interrupt_at_any_call_keeps_it() -> None:
    total = calls_of(CtrlCLate)
    last = outcome(CtrlCLate, total)
    assert last is not None
    assert last.answer is Answer.ERROR
    assert "out of memory" in last.message


def test_before_any_failure_an_interrupt_is_just_that() -> None:
    assert outcome(CtrlC, stop=1) is None


@pytest.mark.parametrize("back", [0, 8])
def test_the_report_of_an_interrupted_run_shows_the_failure_and_exits_with_130(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    back: int,
) -> None:
    stop = calls_of(CtrlC) - back
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    CtrlC.calls, CtrlC.stop = 0, stop
    code = main(
        [
            *("fuzz", "tests.decoders_for_tests:CtrlC", "--examples", "20", "--json", "out.json"),
            *("--law", "schedule", "--law", "sensitivity"),
        ]
    )
    captured = capsys.readouterr()
    assert "VIOLATED  schedule   tests.decoders_for_tests:CtrlC   seed 0" in captured.out
    assert UNFINISHED in captured.out
    assert "interrupted: 1 of 2 laws were done" in captured.out
    assert "Traceback" not in captured.out + captured.err
    (verdict,) = json.loads(Path("out.json").read_text())["verdicts"]
    assert verdict["verdict"] == "VIOLATED"
    (stored,) = Path("evidence/regressions").iterdir()
    assert f"cachecheck replay evidence/regressions/{stored.name}" in captured.out
    assert code == 130


def test_an_interrupt_that_somebody_swallowed_still_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    before = signal.getsignal(signal.SIGINT)
    code = main(["fuzz", "tests.decoders_for_tests:SwallowsCtrlC", "--examples", "1000000"])
    assert code == 130
    assert "interrupted: 0 of 17 laws were done\n  causality: none of " in capsys.readouterr().out
    assert signal.getsignal(signal.SIGINT) is before
