"""The report of a run as data: order, what follows from what, what to advise. Renderers show it."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from cachecheck import __version__
from cachecheck.laws import LAWS, implied, weakest
from cachecheck.verdict import Answer, Margin, Reason, Verdict, Violation

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Remark:
    """One thing that several laws say alike, beside failing cases.

    Attributes:
        answer: theirs.
        laws: ids; empty where it is all of them.
        reasons: what they say.
        violation: what else they say, where a violation has no case to show.
    """

    answer: Answer
    laws: tuple[str, ...]
    reasons: tuple[Reason, ...]
    violation: Violation | None = None


@dataclass(frozen=True)
class Consequence:
    """A law that cannot hold while another one is broken.

    Attributes:
        law: its id.
        weaker: the law that it implies, which is broken or leads to a broken one.
        reason: why it implies that.
        held: whether its own cases did not meet what is broken.
    """

    law: str
    weaker: str
    reason: str
    held: bool = False


@dataclass(frozen=True)
class Summary:
    """All that a report of a run says, in the order to say it.

    Attributes:
        target: name of the decoder.
        seed: of cases and weights.
        amount: how much was asked for, in words.
        versions: of what the run depends on.
        verdicts: all of them, in the laws' own order.
        table: those with a row in the table of laws; empty where all have the same thing to say.
        failures: those whose case is shown, in order; one that an earlier case shows is left out.
        remarks: what else the laws say, once each.
        not_offered: laws that the decoder lacks the members for.
        margin: the smallest room of all laws that needed a tolerance; None where none did.
        checked: how many laws the decoder has the members for.
        answers: ids of the laws by their answer, those not offered left out.
        begin_with: the weakest broken laws.
        follow: laws that cannot hold before those do.
        rate: share of cases in which a fault must show to be found with a probability of
            `CONFIDENCE`, law by law; None where no law holds or one does not.
        replays: what to type after ``cachecheck replay``, by law.
    """

    target: str
    seed: int
    amount: str
    versions: Mapping[str, str]
    verdicts: tuple[Verdict, ...]
    table: tuple[Verdict, ...]
    failures: tuple[Verdict, ...]
    remarks: tuple[Remark, ...]
    not_offered: tuple[str, ...]
    margin: Margin | None
    checked: int
    answers: Mapping[Answer, tuple[str, ...]]
    begin_with: tuple[str, ...]
    follow: tuple[Consequence, ...]
    rate: float | None
    replays: Mapping[str, str]


def summarised(
    verdicts: Sequence[Verdict],
    target: str,
    *,
    seed: int = 0,
    amount: str = "",
    replays: Mapping[str, str] | None = None,
) -> Summary:
    """The report on these verdicts.

    Args:
        verdicts: one a law.
        target: name of the decoder.
        seed: of cases and weights.
        amount: how much was asked for, in words.
        replays: what to type after ``cachecheck replay``, by law.
    """
    offered = [verdict for verdict in verdicts if not verdict.not_offered]
    broken = _laws(offered, Answer.VIOLATED)
    return Summary(
        target=target,
        seed=seed,
        amount=amount,
        versions=versions(),
        verdicts=tuple(verdicts),
        table=tuple(offered) if _differ(verdicts) else (),
        failures=tuple(_failures(verdicts)),
        remarks=tuple(_remarks(verdicts)),
        not_offered=tuple(verdict.law for verdict in verdicts if verdict.not_offered),
        margin=_smallest_margin(verdicts),
        checked=len(offered),
        answers={answer: _laws(offered, answer) for answer in Answer},
        begin_with=tuple(weakest(LAWS, broken)),
        follow=tuple(_consequences(verdicts, broken)),
        rate=_rate(offered),
        replays=dict(replays or {}),
    )


def versions() -> dict[str, str]:
    """Of what a run depends on."""
    python = ".".join(map(str, sys.version_info[:3]))
    named = {name: version(name) for name in ("numpy", "hypothesis", "pytest")}
    return {"cachecheck": __version__, "Python": python, **named}


def _laws(verdicts: Sequence[Verdict], answer: Answer) -> tuple[str, ...]:
    return tuple(verdict.law for verdict in verdicts if verdict.answer is answer)


def _differ(verdicts: Sequence[Verdict]) -> bool:
    """True if the laws have more than one thing to say: a wrong adapter fails all alike."""
    said = {(one.violation, one.reasons) for one in verdicts if not one.examples}
    return len(said) > 1 or any(one.examples for one in verdicts)


def _failures(verdicts: Sequence[Verdict]) -> list[Verdict]:
    return [
        one for one in verdicts if one.schedule is not None and not _shown_before(one, verdicts)
    ]


def _shown_before(verdict: Verdict, verdicts: Sequence[Verdict]) -> bool:
    """True if a law that follows from this one is broken by the same case."""
    if verdict.answer is not Answer.VIOLATED:
        return False
    weaker = implied(LAWS, verdict.law)
    case = (verdict.schedule, verdict.tokens, verdict.decoder_seed)
    return any(
        one.law in weaker
        and one.answer is Answer.VIOLATED
        and (one.schedule, one.tokens, one.decoder_seed) == case
        for one in verdicts
    )


def _remarks(verdicts: Sequence[Verdict]) -> list[Remark]:
    """Each thing to say once, with the laws that say it."""
    found: dict[tuple[object, ...], Remark] = {}
    for one in verdicts:
        nothing = not one.reasons and one.violation is None
        if one.schedule is not None or nothing or one.not_offered:
            continue
        key = (one.violation, one.reasons)
        same = tuple(other.law for other in verdicts if (other.violation, other.reasons) == key)
        laws = () if len(same) == len(verdicts) else same
        found.setdefault(key, Remark(one.answer, laws, one.reasons, one.violation))
    return list(found.values())


def _smallest_margin(verdicts: Sequence[Verdict]) -> Margin | None:
    margins = [one.margin for one in verdicts if one.margin is not None]
    least = min(margins, key=_ratio, default=None)
    return None if least is None or least.signal is None else least


def _ratio(margin: Margin) -> float:
    return math.inf if margin.signal is None else margin.signal / margin.tolerance


def _consequences(verdicts: Sequence[Verdict], broken: Sequence[str]) -> list[Consequence]:
    """The laws that cannot hold while ``broken`` ones are broken, each with the first reason."""
    held = _laws(verdicts, Answer.HOLDS)
    idle = {verdict.law for verdict in verdicts if verdict.answer is Answer.UNSUPPORTED}
    found = []
    for name, law in LAWS.items():
        if name in idle or not implied(LAWS, name) & set(broken):
            continue
        weaker, reason = next(
            (weaker, reason)
            for weaker, reason in law.implies.items()
            if weaker in broken or implied(LAWS, weaker) & set(broken)
        )
        found.append(Consequence(name, weaker, reason, held=name in held))
    return found


def _rate(offered: Sequence[Verdict]) -> float | None:
    bad = {Answer.VIOLATED, Answer.ERROR, Answer.INCONCLUSIVE}
    held = [one.examples for one in offered if one.answer is Answer.HOLDS]
    if not held or any(one.answer in bad for one in offered):
        return None
    # Rounded up: never too bold.
    share: float = 1 - (1 - CONFIDENCE) ** (1 / min(held))
    return math.ceil(1000 * share) / 1000
