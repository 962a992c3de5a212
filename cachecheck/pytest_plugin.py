"""The pytest face: options that name a target, and one test a law.

pytest loads this at every start once the package is installed, so it imports nothing heavy and
does nothing unless ``--cachecheck-target`` is given.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from cachecheck.target import Target
    from cachecheck.verdict import Verdict

_TICK = 0.1  # seconds between two notes of progress


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options that ``cachecheck fuzz`` hands on."""
    group = parser.getgroup("cachecheck", "check a decoder's KV cache")
    group.addoption("--cachecheck-target", metavar="TARGET", help="decoder to check")
    group.addoption("--cachecheck-laws", metavar="IDS", help="laws to check, joined by commas")
    group.addoption("--cachecheck-seed", type=int, default=0, help="seed of cases and weights")
    group.addoption("--cachecheck-examples", type=int, default=200, help="cases a law")
    group.addoption("--cachecheck-max-length", type=int, default=None, help="longest sequence")
    group.addoption("--cachecheck-save", metavar="DIR", help="folder for failing cases")
    group.addoption("--cachecheck-run-dir", metavar="DIR", help="folder for progress and verdicts")


def pytest_configure(config: pytest.Config) -> None:
    """Set the runner up, where there is a target."""
    if config.getoption("--cachecheck-target"):
        config.stash[LawRunner.KEY] = LawRunner(config)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say what is under test."""
    runner = config.stash.get(LawRunner.KEY, None)
    return None if runner is None else f"cachecheck: {runner.name}, seed {runner.seed}"


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

    KEY = pytest.StashKey["LawRunner"]()

    def __post_init__(self) -> None:
        option: Any = self.config.getoption
        self.name: str = option("--cachecheck-target")
        self.seed: int = option("--cachecheck-seed")
        self.save: str | None = option("--cachecheck-save")
        self.run_dir: str | None = option("--cachecheck-run-dir")

    @property
    def laws(self) -> list[str]:
        """Ids of the laws asked for, in their own order."""
        from cachecheck.laws import LAWS  # noqa: PLC0415 - see the module's docstring

        chosen = self.config.getoption("--cachecheck-laws")
        if chosen is None:
            return list(LAWS)
        unknown = [law for law in chosen.split(",") if law not in LAWS]
        if unknown:
            raise pytest.UsageError(f"unknown law {unknown[0]!r}; known: {', '.join(LAWS)}")
        return [law for law in LAWS if law in chosen.split(",")]

    def run(self, law: str) -> LawRun:
        """Search for a case that breaks ``law``; note verdict and progress in the run's folder."""
        from cachecheck.search import InterruptedSearchError  # noqa: PLC0415
        from cachecheck.verdict import Answer, Verdict  # noqa: PLC0415

        verdict: Verdict
        cause: BaseException | None
        self._progress(law)(0)
        try:
            verdict, cause = self._search(law)
        except InterruptedSearchError as stop:
            self._keep(stop.verdict)
            raise
        except Exception as error:  # noqa: BLE001 - said in one line; --pdb leads to the place
            message = f"cachecheck itself failed: {type(error).__name__}: {error}; please report it"
            verdict, cause = Verdict(law, Answer.ERROR, message=message), error
        return LawRun(verdict, self._keep(verdict), cause)

    def _search(self, law: str) -> tuple[Verdict, BaseException | None]:
        from cachecheck.cases import Effort  # noqa: PLC0415
        from cachecheck.errors import TargetError  # noqa: PLC0415
        from cachecheck.laws import LAWS  # noqa: PLC0415
        from cachecheck.search import search  # noqa: PLC0415
        from cachecheck.target import load_target  # noqa: PLC0415
        from cachecheck.verdict import Answer, Verdict  # noqa: PLC0415

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
        from cachecheck.replay import save_failure  # noqa: PLC0415
        from cachecheck.report.terminal import failure_block  # noqa: PLC0415

        saved = None
        if self.save and verdict.schedule is not None:
            try:
                saved = save_failure(verdict, self.name, Path(self.save))
            except OSError as error:  # a full disk is no reason to lose the finding as well
                note = f"could not be stored in {self.save}: {error.strerror}"
                verdict = replace(verdict, message=f"{verdict.message}; {note}")
        if self.run_dir:
            kept = {"verdict": verdict.to_wire(), "saved": str(saved) if saved else None}
            part = Path(self.run_dir) / f"{verdict.law}.part"
            part.write_text(json.dumps(kept))
            part.replace(part.with_suffix(".json"))  # whoever watches must not read half of it
        return failure_block(verdict, self.name, saved)

    def _progress(self, law: str) -> Any:
        """A callback that notes the number of cases for whoever draws the progress bar."""
        if not self.run_dir:
            return lambda _count: None
        path = Path(self.run_dir) / f"{law}.count"
        last = 0.0

        def note(count: int) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= _TICK:
                last = now
                path.write_text(str(count))

        return note
