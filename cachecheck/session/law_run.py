"""Runs laws inside pytest: progress and verdicts go to the run's folder, failures to the user's."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from cachecheck.errors import TargetError
from cachecheck.guard import CallLimit
from cachecheck.laws import LAWS
from cachecheck.pytest_plugin import examples_of, save_folder
from cachecheck.replay import replay_arguments, save_failure, stored_cases
from cachecheck.search import InterruptedSearchError, search
from cachecheck.search.cases import Effort
from cachecheck.search.check import unforeseen
from cachecheck.search.tally import Tally
from cachecheck.session.ctrl_c import CtrlC
from cachecheck.session.decoder_name import DecoderName
from cachecheck.session.outcome import LawOutcome
from cachecheck.session.run_folder import Progress, RunFolder, ShardResult
from cachecheck.target import Target, load_target
from cachecheck.verdict import Answer, Verdict

_TICK = 0.1  # seconds between two reports of progress
_SHARD_STEP = 1_000_003  # between the seeds of shards: no two draw the same cases


@dataclass
class LawRunner:
    """Runs laws on one decoder.

    Attributes:
        config: pytest's, with our options.
        name: of the decoder.
        load: gives the decoder as a target; called once, when the first law runs.
        store: whether failing cases are stored.
    """

    config: pytest.Config
    name: DecoderName
    load: Callable[[], Target]
    store: bool = True
    _target: Target | None = field(default=None, init=False)
    _ctrl_c: CtrlC = field(default_factory=CtrlC, init=False)

    def __post_init__(self) -> None:
        option: Any = self.config.getoption
        run_folder: str | None = option("--cachecheck-run-dir")
        shards: int = option("--cachecheck-shards")
        self.run_folder = RunFolder(Path(run_folder), shards) if run_folder else None
        self.save = None if self.name.target is None else save_folder(self.config)

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

    def run(self, law: str, shard: int = 0) -> LawOutcome:
        """Search for a case that breaks ``law``; write result and progress to the run's folder."""
        try:
            with self._ctrl_c.watched():
                verdict, cause = self._search(law, shard)
        except InterruptedSearchError as stop:
            self._recorded(stop.verdict, stop, shard)
            raise
        except (KeyboardInterrupt, pytest.exit.Exception):
            raise
        except BaseException as error:  # noqa: BLE001 - said in one line; --pdb leads to the place
            verdict, cause = unforeseen(law, error), error
        outcome = self._recorded(verdict, cause, shard)
        self._ctrl_c.raise_if_it_came()
        return outcome

    def _search(self, law: str, shard: int) -> tuple[Verdict, BaseException | None]:
        report_progress = self._progress_reporter(law, shard)
        report_progress(None)
        try:
            if self._target is None:
                self._target = self.load()
        except TargetError as error:
            return Verdict(law, Answer.ERROR, message=str(error)), error
        with self._limit(law, shard) as limit:
            effort = self._effort(law, shard, limit)
            return search(LAWS[law], self._target, effort, on_case=report_progress)

    def _effort(self, law: str, shard: int, limit: CallLimit | None) -> Effort:
        option: Any = self.config.getoption
        shards = option("--cachecheck-shards")
        seed = option("--cachecheck-seed")
        return Effort(
            seed=seed,
            examples=-(-examples_of(self.config) // shards),
            max_length=option("--cachecheck-max-length"),
            seconds=self._share(option("--cachecheck-until")),
            limit=limit,
            case_seed=str(seed + shard * _SHARD_STEP) if shard else None,
            known=() if shard else self._stored_cases(law),
        )

    def _stored_cases(self, law: str) -> tuple[Any, ...]:
        """Cases that failed before, with their decoders' seeds."""
        if self.save is None or self.name.target is None:
            return ()
        return stored_cases(self.name.target, law, self.save)

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
            with self.run_folder.hang_file(law, shard).open("w") as file:
                yield CallLimit(seconds, file)

    def _recorded(self, verdict: Verdict, cause: BaseException | None, shard: int) -> LawOutcome:
        """The outcome, its failing case stored, its result in the run's folder."""
        # A decoder's exception may say what no file and no terminal takes.
        said = verdict.message.encode("utf-8", "backslashreplace").decode()
        verdict, file, replay = replace(verdict, message=said), None, None
        if self.store and verdict.failed and self.save is not None and self.name.target is not None:
            try:
                file = save_failure(verdict, self.name.target, self.save)
                replay = replay_arguments(file, self.name.target)
            except OSError as error:  # a full disk is no reason to lose the finding as well
                said = f"could not be stored in {self.save}: {error.strerror}"
                verdict = replace(verdict, message=f"{verdict.message}; {said}")
        if self.run_folder is not None:
            self.run_folder.write_result(shard, ShardResult(verdict, replay))
        return LawOutcome(verdict, self.name, file, replay, cause)

    def _progress_reporter(self, law: str, shard: int) -> Callable[[Tally | None], None]:
        """A function that tells whoever draws the progress bar how far the search has come."""
        last = 0.0

        def report(tally: Tally | None) -> None:
            nonlocal last
            self._ctrl_c.raise_if_it_came()
            now = time.monotonic()
            if self.run_folder is not None and now - last >= _TICK:
                last = now
                reached = (tally.tried_cases, len(tally.covered)) if tally else (0, 0)
                self.run_folder.write_progress(law, shard, Progress(*reached))

        return report


def runner_of_options(config: pytest.Config) -> LawRunner:
    """The runner of the target that the options name.

    Raises:
        pytest.UsageError: they name none.
    """
    target = config.getoption("--cachecheck-target")
    if not target:
        raise pytest.UsageError("no target: give --cachecheck-target, or use cachecheck fuzz")
    return LawRunner(config, DecoderName(target, target), lambda: load_target(target))
