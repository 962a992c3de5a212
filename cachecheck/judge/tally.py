"""The cases that a law was tried on, counted; conclude.py makes a verdict of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from cachecheck.errors import DecoderError, DecoderHangsError, Unsupported
from cachecheck.judge.judgement import Judged, Judgement, examine
from cachecheck.judge.trial import Trial
from cachecheck.laws import Law
from cachecheck.laws.comparison import severity
from cachecheck.schedule import Append, Schedule
from cachecheck.schedule.coverage import CallClass, classes_of
from cachecheck.verdict import Finding


class Tally:
    """A running count of cases. Only `attempt` and `note` write it; anybody may read it.

    Attributes:
        law: the law that was tried.
        examples: cases tried; those that the decoder refused are left out.
        refusals: the refusals of the others.
        cut_short: for each program that ended before its last step, the refusal.
        broken: the first case that is wrong, which ends an ordinary search.
        raised: cases on which the decoder raised, or gave what cannot be used.
        doubtful: cases that may be rounding or a mistake.
        closest: the equal case that came closest to a violation.
        latest: the equal case tried last.
        covered: calls made in equal cases, by class.
        with_history: equal cases of more than one call.
        longest: tokens of the longest equal case.
        smallest_window: of the decoders met; None where none had one.
        crossed: True if any equal case was longer than its decoder's window.
    """

    def __init__(self, law: Law) -> None:
        self.law = law
        self.examples = 0
        self.refusals: list[Unsupported] = []
        self.cut_short: list[str] = []
        self.broken: tuple[Trial, Judged] | None = None
        self.raised: list[tuple[Trial, DecoderError]] = []
        self.doubtful: list[tuple[Trial, Judged]] = []
        self.closest: tuple[Trial, Finding] | None = None
        self.latest: Trial | None = None
        self.covered: Counter[CallClass] = Counter()
        self.with_history = 0
        self.longest = 0
        self.smallest_window: int | None = None
        self.crossed = False

    @property
    def tried_cases(self) -> int:
        """Cases drawn so far, refused ones included."""
        return self.examples + len(self.refusals)

    def attempt(self, trial: Trial) -> Judged | None:
        """Try the law on one case; None where the decoder refused or raised.

        Neither a decoder that raises nor a doubtful difference ends a search: the same mistake
        may also give rows that are clearly wrong, which say more.

        Raises:
            DecoderHangsError: a call did not return in time; the case is counted first.
        """
        try:
            judged = examine(self.law, trial.decoder, trial.case)
        except Unsupported as refusal:
            self.refusals.append(refusal)
            return None
        except DecoderError as error:
            self.examples += 1
            self.raised.append((trial, error))
            if isinstance(error, DecoderHangsError):
                raise
            return None
        self.note(trial, judged)
        return judged

    def note(self, trial: Trial, judged: Judged) -> None:
        """Count a case that was judged."""
        self.examples += 1
        somewhere = not self.law.everywhere  # then a case without movement is nothing wrong yet
        if judged.judgement is Judgement.EQUAL or somewhere:
            self._equal(trial, replace(judged.finding, violation=None))
        elif judged.judgement is Judgement.DOUBTFUL:
            self.doubtful.append((trial, judged))
        else:
            self.broken = self.broken or (trial, judged)

    def _equal(self, trial: Trial, finding: Finding) -> None:
        schedule, window = trial.case.schedule, trial.decoder.capabilities.window
        if finding.refusal:
            self.cut_short.append(finding.refusal)
        self.latest = trial
        self.with_history += len(schedule.steps) > 1
        performed = _performed(schedule, finding.done)
        if performed is not None:
            self.covered += classes_of(performed, window)
        if window is not None:
            self.smallest_window = min(window, self.smallest_window or window)
            self.crossed |= schedule.longest > window
        if self.closest is None or severity(finding) > severity(self.closest[1]):
            self.closest = (trial, finding)
        self.longest = max(self.longest, schedule.longest)


def _performed(schedule: Schedule, done: int | None) -> Schedule | None:
    """The steps that were done, where the decoder refused the one after ``done``."""
    if done is None:
        return schedule
    steps = schedule.steps[:done]
    return Schedule(steps) if any(isinstance(step, Append) for step in steps) else None
