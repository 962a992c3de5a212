"""Runs laws inside pytest: progress and verdicts go to the run's folder, failures to the user's."""

from __future__ import annotations

import contextlib
import json
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from cachecheck.cases import Effort
from cachecheck.errors import TargetError
from cachecheck.laws import LAWS
from cachecheck.replay import save_failure
from cachecheck.report.terminal import failure_block
from cachecheck.search import InterruptedSearchError, search
from cachecheck.target import Target, load_target
from cachecheck.verdict import Answer, Verdict

_TICK = 0.1  # seconds between two notes of progress


@dataclass(frozen=True)
class LawRun:
    """One law's verdict, rendered, with the exception behind it for a debugger."""

    verdict: Verdict
    text: str
    cause: BaseException | None

    def raise_for_pytest(self, request: pytest.FixtureRequest) -> None:
        """Fail, skip or pass the test that ran it."""
        answer = self.verdict.answer.value
        if answer in ("UNSUPPORTED", "INCONCLUSIVE"):
            pytest.skip(f"{answer}: {self.verdict.message}")
        if answer == "HOLDS":
            return
        if self.cause is not None and request.config.getoption("usepdb"):
            raise self.cause  # its traceback leads the debugger to where it happened
        pytest.fail(self.text, pytrace=False)


@dataclass
class LawRunner:
    """Runs laws on the target that the options name."""

    config: pytest.Config
    _target: Target | None = field(default=None, init=False)
    _interrupted: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        option: Any = self.config.getoption
        if not option("--cachecheck-target"):
            raise pytest.UsageError("no target: give --cachecheck-target, or use cachecheck fuzz")
        self.name: str = option("--cachecheck-target")
        self.seed: int = option("--cachecheck-seed")
        self.save: str | None = option("--cachecheck-save")
        self.run_dir: str | None = option("--cachecheck-run-dir")

    @property
    def laws(self) -> list[str]:
        """Ids of the laws asked for, in their own order."""
        chosen = self.config.getoption("--cachecheck-laws")
        if chosen is None:
            return list(LAWS)
        unknown = [law for law in chosen.split(",") if law not in LAWS]
        if unknown:
            raise pytest.UsageError(f"unknown law {unknown[0]!r}; known: {', '.join(LAWS)}")
        return [law for law in LAWS if law in chosen.split(",")]

    def run(self, law: str) -> LawRun:
        """Search for a case that breaks ``law``; note verdict and progress in the run's folder."""
        self._progress(law)(0)
        try:
            with self._heeding_interrupts():
                verdict, cause = self._search(law)
        except InterruptedSearchError as stop:
            self._keep(stop.verdict)
            raise
        except Exception as error:  # noqa: BLE001 - said in one line; --pdb leads to the place
            said = " ".join(f"{type(error).__name__}: {error}".split())
            message = f"cachecheck itself failed: {said}; please report it"
            verdict, cause = Verdict(law, Answer.ERROR, message=message), error
        text = self._keep(verdict)
        if self._interrupted:
            raise KeyboardInterrupt
        return LawRun(verdict, text, cause)

    @contextlib.contextmanager
    def _heeding_interrupts(self) -> Iterator[None]:
        """Remember Ctrl-C as well as raising it.

        Hypothesis has callbacks in the garbage collector and on weak references, and what is raised
        in there is lost: 26 of 682 interrupts, as measured.
        """
        before = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or not callable(before):
            yield
            return

        def remember(number: int, frame: FrameType | None) -> None:
            self._interrupted = True
            before(number, frame)

        signal.signal(signal.SIGINT, remember)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _search(self, law: str) -> tuple[Verdict, BaseException | None]:

        option: Any = self.config.getoption
        effort = Effort(
            self.seed, option("--cachecheck-examples"), option("--cachecheck-max-length")
        )
        try:
            if self._target is None:
                self._target = load_target(self.name)
        except TargetError as error:
            return Verdict(law, Answer.ERROR, message=str(error)), error
        return search(LAWS[law], self._target, effort, on_example=self._progress(law))

    def _keep(self, verdict: Verdict) -> str:
        """Store a failing case and the verdict, and render it."""
        saved = None
        if self.save and verdict.schedule is not None:
            try:
                saved = save_failure(verdict, self.name, Path(self.save))
            except OSError as error:  # a full disk is no reason to lose the finding as well
                note = f"could not be stored in {self.save}: {error.strerror}"
                verdict = replace(verdict, message=f"{verdict.message}; {note}")
        if self.run_dir:
            kept = {"verdict": verdict.to_wire(), "saved": str(saved) if saved else None}
            _put(Path(self.run_dir) / f"{verdict.law}.json", json.dumps(kept))
        return failure_block(verdict, self.name, saved)

    def _progress(self, law: str) -> Callable[[int], None]:
        """A callback that notes the number of cases for whoever draws the progress bar."""
        path = Path(self.run_dir) / f"{law}.count" if self.run_dir else None
        last = 0.0

        def note(count: int) -> None:
            nonlocal last
            if self._interrupted:
                raise KeyboardInterrupt
            now = time.monotonic()
            if path is not None and now - last >= _TICK:
                last = now
                _put(path, str(count))

        return note


def _put(path: Path, text: str) -> None:
    """Write in one step: whoever watches must not read half of it."""
    part = path.with_suffix(".part")
    part.write_text(text)
    part.replace(path)
