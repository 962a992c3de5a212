"""Runs laws inside pytest: progress and verdicts go to the run's folder, failures to the user's."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from cachecheck.errors import TargetError
from cachecheck.guard import CallLimit
from cachecheck.judge import Tally
from cachecheck.laws import LAWS
from cachecheck.pytest_plugin import examples_of, save_folder
from cachecheck.replay import save_failure, stored_cases
from cachecheck.report.failure import failure_block
from cachecheck.search import InterruptedSearchError, search
from cachecheck.search.cases import Effort
from cachecheck.session.run_folder import RunFolder
from cachecheck.target import Target, load_target
from cachecheck.verdict import Answer, Code, Reason, Verdict

_TICK = 0.1  # seconds between two notes of progress
_SHARD_STEP = 1_000_003  # between the seeds of shards: no two draw the same cases


@dataclass(frozen=True)
class LawRun:
    """One law's verdict, rendered, with the exception behind it for a debugger."""

    verdict: Verdict
    text: str
    cause: BaseException | None

    def raise_for_pytest(self, config: pytest.Config) -> None:
        """Fail, skip or pass the test that ran it."""
        answer = self.verdict.answer.value
        if answer in ("UNSUPPORTED", "INCONCLUSIVE"):
            pytest.skip(f"{answer}: {self.verdict.message}")
        if answer == "HOLDS":
            return
        if self.cause is not None and config.getoption("usepdb"):
            raise self.cause  # its traceback leads the debugger to where it happened
        pytest.fail(self.text, pytrace=False)


@dataclass
class LawRunner:
    """Runs laws on one target.

    Attributes:
        config: pytest's, with our options.
        name: of the target.
        load: gives the target; called once, when the first law runs.
        store: whether failing cases are stored.
    """

    config: pytest.Config
    name: str
    load: Callable[[], Target]
    store: bool = True
    _target: Target | None = field(default=None, init=False)
    _interrupted: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        option: Any = self.config.getoption
        self.save = save_folder(self.config)
        run_folder: str | None = option("--cachecheck-run-dir")
        shards: int = option("--cachecheck-shards")
        self.run_folder = RunFolder(Path(run_folder), shards) if run_folder else None

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

    def run(self, law: str, shard: int = 0) -> LawRun:
        """Search for a case that breaks ``law``; note verdict and progress in the run's folder."""
        try:
            with self._heeding_interrupts():
                verdict, cause = self._search(law, shard)
        except InterruptedSearchError as stop:
            self._keep(stop.verdict, shard)
            raise
        except Exception as error:  # noqa: BLE001 - said in one line; --pdb leads to the place
            said = " ".join(f"{type(error).__name__}: {error}".split())
            ours = Reason(Code.OUR_OWN, quoted=said)
            verdict, cause = Verdict(law, Answer.ERROR, reasons=(ours,)), error
        text = self._keep(verdict, shard)
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

    def _search(self, law: str, shard: int) -> tuple[Verdict, BaseException | None]:
        note = self._progress(law, shard)
        note(None)
        try:
            if self._target is None:
                self._target = self.load()
        except TargetError as error:
            reason = Reason(Code.TARGET, quoted=str(error))
            return Verdict(law, Answer.ERROR, reasons=(reason,)), error
        with self._limit(law, shard) as limit:
            return search(LAWS[law], self._target, self._effort(law, shard, limit), on_case=note)

    def _effort(self, law: str, shard: int, limit: CallLimit | None) -> Effort:
        option: Any = self.config.getoption
        shards = option("--cachecheck-shards")
        seed = option("--cachecheck-seed")
        known = () if self.save is None else stored_cases(self.name, law, self.save)
        return Effort(
            seed=seed,
            examples=-(-examples_of(self.config) // shards),
            max_length=option("--cachecheck-max-length"),
            seconds=self._share(option("--cachecheck-until")),
            limit=limit,
            case_seed=str(seed + shard * _SHARD_STEP) if shard else None,
            known=known if shard == 0 else (),
        )

    def _share(self, until: float | None) -> float | None:
        """This law's share of the time that is left: laws that end early leave theirs to others."""
        if until is None:
            return None
        left = max(0.0, until - time.time())
        waiting = 1 if self.run_folder is None else max(1, self.run_folder.unfinished(self.laws))
        workers = int(getattr(self.config, "workerinput", {}).get("workercount", 1))
        return left * min(workers, waiting) / waiting

    @contextlib.contextmanager
    def _limit(self, law: str, shard: int) -> Iterator[CallLimit | None]:
        seconds: float | None = self.config.getoption("--cachecheck-call-timeout")
        if seconds is None:
            yield None
        elif self.run_folder is None or not hasattr(self.config, "workerinput"):
            yield CallLimit(seconds)  # this process is the user's: it must not be ended
        else:
            with self.run_folder.hang_note(law, shard).open("w") as file:
                yield CallLimit(seconds, file)

    def _keep(self, verdict: Verdict, shard: int) -> str:
        """Store a failing case and the verdict, and render it."""
        saved = None
        if self.store and self.save is not None and verdict.failed:
            try:
                saved = save_failure(verdict, self.name, self.save)
            except OSError as error:  # a full disk is no reason to lose the finding as well
                note = Reason(Code.NOT_STORED, quoted=f"{self.save}: {error.strerror}")
                verdict = replace(verdict, reasons=(*verdict.reasons, note))
        if self.run_folder is not None:
            self.run_folder.keep(verdict, shard, saved)
        return failure_block(verdict, self.name, None if saved is None else str(saved))

    def _progress(self, law: str, shard: int) -> Callable[[Tally | None], None]:
        """A callback that notes the number of cases for whoever draws the progress bar."""
        last = 0.0

        def note(tally: Tally | None) -> None:
            nonlocal last
            if self._interrupted:
                raise KeyboardInterrupt
            now = time.monotonic()
            if self.run_folder is not None and now - last >= _TICK:
                last = now
                tried, classes = (tally.tried_cases, len(tally.covered)) if tally else (0, 0)
                self.run_folder.note_progress(law, shard, tried, classes)

        return note


def of_options(config: pytest.Config) -> LawRunner:
    """The runner of the target that the options name.

    Raises:
        pytest.UsageError: they name none.
    """
    name = config.getoption("--cachecheck-target")
    if not name:
        raise pytest.UsageError("no target: give --cachecheck-target, or use cachecheck fuzz")
    return LawRunner(config, name, lambda: load_target(name))
