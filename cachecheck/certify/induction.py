"""Every partition of a sequence, by induction over transitions between states.

The canonical state at i is that of one call with the first i tokens. If every call from the
canonical state at i to j gives the right rows *and* the canonical state at j, then so does every
sequence of such calls: N(N+1)/2 calls cover all 2^(N-1) partitions. States are equal up to
rounding only, so the sum of rounding is measured where there are most calls, with a token a call.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cachecheck.certify.certificate import Certificate, NotCanonicalError
from cachecheck.certify.oracle import Oracle
from cachecheck.certify.states import state_distance
from cachecheck.errors import Unsupported
from cachecheck.guard import Snapshot
from cachecheck.judge import concluded
from cachecheck.laws import LAWS
from cachecheck.schedule import Case, Schedule
from cachecheck.schedule.tokens import changed
from cachecheck.verdict import Answer, Violation

_CROP = LAWS["crop"]
METHOD = "induction over transitions between states"
_MINIMAL = (
    "Every call that ends earlier gives the right rows and the canonical state: so no schedule of "
    "fewer tokens fails, and none of as many tokens in fewer calls."
)
_NOT_MINIMAL = (
    "All calls are right, a rollback is not. A smaller program may fail as well: see --law crop."
)


class Induction:
    """The canonical states of one sequence, and the transitions between them."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle, self.decoder = oracle, oracle.decoder
        self.caches: list[Any] = [self.decoder.new_cache()]
        self.states: list[Snapshot] = [self._state(self.caches[0])]
        self.failed: tuple[tuple[int, ...], Violation] | None = None
        self.rolls_back = "crop" in self.decoder.capabilities.offers
        self.rollbacks = self.refused = 0
        self.not_covered: str | None = None  # the reason why rollbacks are not covered
        self.broken: tuple[Case, Violation] | None = None  # a rollback and the row after it
        self.largest = 0.0

    def run(self) -> None:
        """All transitions by where they end, so that the first that fails is the smallest.

        Raises:
            NotCanonicalError: a state depends on how the tokens were cut.
        """
        for stop in range(1, len(self.oracle.tokens) + 1):
            for start in range(stop):
                if self._fails(start, stop):
                    return
            if self.rolls_back:
                self._roll_back(stop)
        if self.rolls_back:
            self._roll_back_others()

    def _fails(self, start: int, stop: int) -> bool:
        chunks = (stop,) if start == 0 else (start, stop - start)
        own = self.decoder.fork(self.caches[start])
        found, after = self.oracle.extend(start, stop, own, self.oracle.partition(chunks))
        broken = found.finding.violation
        if found.wrong and broken is not None:
            self.failed = (chunks, broken)
            return True
        if start == 0:
            self.caches.append(after)
            self.states.append(self._state(after))
        else:
            self._compare(after, stop, f"after {Schedule.of(chunks)}")
            self.decoder.release(after)
        if self._state(self.caches[start]) != self.states[start]:
            raise NotCanonicalError("extending a fork changes the cache that it was forked from")
        return False

    def _roll_back(self, stop: int) -> None:
        """From the state at ``stop`` back to each shorter one."""
        for start in range(1, stop):
            fed = self.oracle.tokens[:stop]
            self._crop(self.decoder.fork(self.caches[stop]), start, str(stop), fed)

    def _roll_back_others(self) -> None:
        """From states after other tokens, back to where those began."""
        last = len(self.oracle.tokens)
        others = changed(self.oracle.tokens, 0, last, self.decoder.vocab_size)
        for start in range(1, last):
            own = self.decoder.fork(self.caches[start])
            _, other = self.decoder.extend(others[start:], own)
            self.oracle.calls += 1
            fed = (*self.oracle.tokens[:start], *others[start:])
            self._crop(other, start, f"{start}+{last - start}", fed)

    def _crop(self, cache: Any, length: int, calls: str, fed: tuple[int, ...]) -> None:
        """Roll back to ``length``: the state must be canonical, and so must the next row."""
        try:
            back = self.decoder.crop(cache, length)
        except Unsupported:
            self.refused += 1
            return
        self.oracle.calls += 1
        self.rollbacks += 1
        try:
            self._compare(back, length, f"after {calls} crop{length}")
        except NotCanonicalError as error:
            self.not_covered = self.not_covered or str(error)
        # One call more, since the state may not show all that a rollback leaves behind.
        case = Case((*fed, self.oracle.tokens[length]), Schedule.parse(f"{calls} crop{length} 1"))
        found, _ = self.oracle.extend(length, length + 1, back, case, _CROP)
        broken = found.finding.violation
        if found.wrong and broken is not None and self.broken is None:
            self.broken = (case, replace(broken, law=_CROP.id))

    def _compare(self, cache: Any, length: int, what: str) -> None:
        distance = state_distance(self.decoder, self._state(cache), self.states[length])
        if distance is None:
            raise NotCanonicalError(
                f"the state {what} is not that of one call with {length} tokens"
            )
        self.largest = max(self.largest, distance)

    def _state(self, cache: Any) -> Snapshot:
        state = self.decoder.snapshot(cache)
        assert state is not None  # noqa: S101 - only with state(cache), see `certify`
        return state

    def drift(self) -> float:
        """The largest difference of rows with a token a call, which is the most calls.

        Raises:
            NotCanonicalError: rows are clearly wrong there, though every transition is right.
        """
        cache, largest = self.decoder.new_cache(), 0.0
        for at in range(len(self.oracle.tokens)):
            case = self.oracle.partition((1,) * (at + 1))
            found, cache = self.oracle.extend(at, at + 1, cache, case)
            if found.wrong:
                raise NotCanonicalError(
                    f"state(cache) leaves out something that extend depends on: {at + 1} single "
                    "tokens fail"
                )
            largest = max(largest, found.finding.difference)
        return largest


def by_induction(oracle: Oracle) -> Certificate:
    """Cover all partitions with N(N+1)/2 transitions; rollbacks as well where they are offered.

    Raises:
        NotCanonicalError: the induction does not apply to this decoder.
    """
    induction = Induction(oracle)
    induction.run()
    covered = 2 ** (len(oracle.tokens) - 1)
    if induction.failed is not None:
        chunks, violation = induction.failed
        return Certificate(
            "schedule",
            Answer.VIOLATED,
            METHOD,
            covered,
            oracle.calls,
            (_MINIMAL,),
            violation.difference or 0.0,
            schedule=str(Schedule.of(chunks)),
            tokens=oracle.tokens[: sum(chunks)],
            violation=violation,
        )
    drift = induction.drift()
    if induction.broken is not None:
        case, violation = induction.broken
        return Certificate(
            "crop",
            Answer.VIOLATED,
            METHOD,
            covered,
            oracle.calls,
            (_NOT_MINIMAL,),
            violation.difference or 0.0,
            schedule=str(case.schedule),
            tokens=case.tokens,
            violation=violation,
        )
    verdict = concluded(oracle.tally)
    return Certificate(
        "schedule",
        verdict.answer,
        METHOD,
        covered,
        oracle.calls,
        _statements(induction),
        verdict.largest_difference or 0.0,
        drift,
        reasons=verdict.reasons,
    )


def _statements(induction: Induction) -> tuple[str, ...]:
    length = len(induction.oracle.tokens)
    count = length * (length + 1) // 2
    calls = (
        f"Each of the {count:,} calls from the state after i tokens to that after j gives the rows "
        f"of the full pass and the state of one call with j tokens; so do all "
        f"{2 ** (length - 1):,} partitions of these {length} tokens, up to rounding."
    )
    rounding = f"At each call the states agreed to within {induction.largest:.1e} of their size."
    assumed = "It is assumed that state(cache) shows all that extend depends on."
    return tuple(filter(None, [calls, rounding, assumed, _on_rollbacks(induction)]))


def _on_rollbacks(induction: Induction) -> str:
    if not induction.rolls_back:
        return ""
    if induction.not_covered is not None:
        return f"Rollbacks are not covered: {induction.not_covered}; see --law crop."
    refused = f" ({induction.refused:,} were refused)" if induction.refused else ""
    return (
        f"{induction.rollbacks:,} rollbacks from every length to every shorter one, also from "
        f"other tokens, restore the canonical state{refused}: so the same holds with forks and "
        "rollbacks in between."
    )
