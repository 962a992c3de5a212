"""From a law's verdict to the outcome of the test that ran it: passed, failed or skipped."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from cachecheck.pytest_plugin import FINDING, settings_line
from cachecheck.report.failure import failure_block
from cachecheck.session.decoder_name import DecoderName
from cachecheck.verdict import Answer, Verdict

_NO_NAME = (
    "not stored, since no name at the top level of a module leads to this decoder: give it one "
    "there (make = ...), and cachecheck replay can load it"
)
_ALLOW = (
    "nothing was shown, so the test fails; to skip it instead: allow_inconclusive=True in "
    "parametrize_with_laws, or --cachecheck-allow-inconclusive"
)


@dataclass(frozen=True)
class LawOutcome:
    """One law's verdict on one decoder.

    Attributes:
        verdict: of the search.
        name: of the decoder.
        file: of the stored failing case, if there is one.
        replay: what to type after ``cachecheck replay``, if there is one.
        cause: the exception behind it, for a debugger.
    """

    verdict: Verdict
    name: DecoderName
    file: Path | None = None
    replay: str | None = None
    cause: BaseException | None = None

    @property
    def headline(self) -> str:
        """One line: law, answer, schedule and reason."""
        at = f" at {self.verdict.schedule}" if self.verdict.schedule is not None else ""
        return f"{self.verdict.law} is {self.verdict.answer.value}{at}: {self.verdict.message}"

    def report_to(self, test: pytest.Item) -> None:
        """Leave properties for JUnit with ``test``, and a block of text unless the law holds."""
        verdict = self.verdict
        known = {
            "law": verdict.law,
            "verdict": verdict.answer.value,
            "schedule": verdict.schedule,
            "tokens": None if verdict.tokens is None else " ".join(map(str, verdict.tokens)),
            "decoder_seed": verdict.decoder_seed,
            "replay_file": None if self.file is None else str(self.file),
        }
        test.user_properties += [(key, value) for key, value in known.items() if value is not None]
        if verdict.answer not in (Answer.HOLDS, Answer.UNSUPPORTED):
            test.stash[FINDING] = self._block(test.config)

    def end(self, test: pytest.Item, *, allow_inconclusive: bool) -> None:
        """Pass, fail or skip ``test``.

        Args:
            test: the one that is running.
            allow_inconclusive: whether INCONCLUSIVE is a skip; by default it is a failure.
        """
        answer, message = self.verdict.answer, self.verdict.message
        if answer is Answer.HOLDS:
            return
        allowed = answer is Answer.INCONCLUSIVE and allow_inconclusive
        if answer is Answer.UNSUPPORTED or allowed:
            pytest.skip(f"{answer.value}: {message}")
        if self.cause is not None and test.config.getoption("usepdb"):
            raise self.cause  # its traceback leads the debugger to where it happened
        pytest.fail(self.headline, pytrace=False)

    def _block(self, config: pytest.Config) -> str:
        verdict = self.verdict
        lines = [failure_block(verdict, self.name.shown, self.replay)]
        if verdict.failed and self.name.target is None:
            lines.append(_line("replay", _NO_NAME))
        if verdict.answer is Answer.INCONCLUSIVE:
            lines.append(_line("what to do", _ALLOW))
        return "\n".join([*lines, _line("run with", settings_line(config))])


def _line(label: str, text: str) -> str:
    return f"  {label:<19} {text}"
