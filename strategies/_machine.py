"""The rules of the state machine over live caches.

The oracle for every branch is the plain list of its tokens, and the decoder's own full pass over
it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from cachecheck.errors import DecoderError, Unsupported
from cachecheck.guard import Guarded
from cachecheck.judge import Judgement, Tally, Trial, judged
from cachecheck.judge.confirm import unconfirmed
from cachecheck.laws import LAWS
from cachecheck.laws.comparison import RowComparison
from cachecheck.laws.runner import ScheduleRunner, SequenceRows
from cachecheck.schedule import (
    Append,
    Branches,
    Case,
    Crop,
    Fork,
    Merge,
    New,
    Release,
    Reorder,
    Reset,
    Save,
    Schedule,
    Step,
    branch_name,
)
from cachecheck.verdict.sentences import sentence

_PROGRAMS = LAWS["programs"]
_COMPARISON = RowComparison(_PROGRAMS.id, "rows", "a branch gives other rows than full")

# Which of the live branches: taken modulo their number, so that every draw names one.
_pick = st.integers(0, 7)
_row = st.integers(0, 7)
_rows = st.lists(_row, min_size=1, max_size=4)
_tokens = st.lists(st.integers(0, 31), min_size=1, max_size=6)


class CacheMachine(RuleBasedStateMachine):
    """The rules; `cache_machine` makes a class of them for a decoder."""

    make: Callable[[int], Guarded]
    target: str
    seeds: st.SearchStrategy[int]
    max_length: int
    max_branches: int
    allow_inconclusive: bool

    @initialize(data=st.data())
    def start(self, data: st.DataObject) -> None:
        """One decoder, with the first branch empty."""
        self.seed = data.draw(self.seeds, "decoder seed")
        self.decoder = type(self).make(self.seed)
        self.player = ScheduleRunner(self.decoder)
        self.tally = Tally(_PROGRAMS)
        self.done: list[Step] = []
        self.tokens: list[int] = []
        room = self.decoder.capabilities.max_length
        self.room = self.max_length if room is None else min(room, self.max_length)

    @rule(pick=_pick, arrays=st.lists(_tokens, min_size=1, max_size=8))
    def append(self, pick: int, arrays: list[list[int]]) -> None:
        """New tokens in one call; in a batch each row gets some, of different lengths."""
        name = self._name(pick)
        branch = self._branches.live[name]
        count = len(branch.rows)
        given = [arrays[at % len(arrays)] for at in range(count)]
        given = [some[: self.room - len(row)] for some, row in zip(given, branch.rows, strict=True)]
        if all(given):
            tokens = [token % self.decoder.vocab_size for some in given for token in some]
            self._take(Append(name, tuple(map(len, given))), tokens)

    @precondition(lambda self: self._has_room())
    @rule()
    def new(self) -> None:
        """Another cache, filled in turn with the others."""
        self._take(New(self._fresh()))

    @precondition(lambda self: self._has_room())
    @rule(pick=_pick)
    def fork(self, pick: int) -> None:
        """A branch, or a whole batch, forked."""
        self._take(Fork(self._fresh(), self._name(pick)))

    @precondition(lambda self: self._offers("crop") and self._names(batch=False, least=2))
    @rule(pick=_pick, back=st.integers(1, 12))
    def crop(self, pick: int, back: int) -> None:
        """A rollback by ``back`` tokens, or to the first."""
        name = self._name(pick, self._names(batch=False, least=2))
        self._take(Crop(name, max(1, self._branches.live[name].length - back)))

    @precondition(lambda self: self._offers("save") and self._names(batch=False))
    @rule(pick=_pick)
    def save(self, pick: int) -> None:
        """Saved, loaded, and on from there."""
        self._take(Save(self._name(pick, self._names(batch=False))))

    @precondition(lambda self: self._offers("reset") and self._names(batch=False))
    @rule(pick=_pick)
    def reset(self, pick: int) -> None:
        """Emptied, to be used again."""
        self._take(Reset(self._name(pick, self._names(batch=False))))

    @precondition(lambda self: len(self._names()) > 1)
    @rule(pick=_pick)
    def release(self, pick: int) -> None:
        """A branch ends."""
        self._take(Release(self._name(pick)))

    @precondition(lambda self: self._offers("batch") and self._has_room())
    @rule(rows=st.integers(1, 4))
    def new_batch(self, rows: int) -> None:
        """A batch of empty rows."""
        self._take(New(self._fresh(), rows))

    @precondition(lambda self: self._offers("reorder") and self._names(batch=True))
    @rule(pick=_pick, rows=_rows)
    def reorder(self, pick: int, rows: list[int]) -> None:
        """Rows moved, repeated, left out."""
        name = self._name(pick, self._names(batch=True))
        self._take(Reorder(name, self._chosen(name, rows)))

    @precondition(
        lambda self: self._offers("reorder") and self._names(batch=True) and self._has_room()
    )
    @rule(pick=_pick, rows=_rows)
    def split(self, pick: int, rows: list[int]) -> None:
        """Some rows copied into a batch of their own."""
        name = self._name(pick, self._names(batch=True))
        self._take(Fork(self._fresh(), name, self._chosen(name, rows)))

    @precondition(lambda self: self._offers("merge") and len(self._names(batch=True)) > 1)
    @rule(pick=_pick, other=_pick)
    def merge(self, pick: int, other: int) -> None:
        """Two batches in one."""
        names = self._names(batch=True)
        left = self._name(pick, names)
        right = self._name(other, [name for name in names if name != left])
        rows = sum(len(self._branches.live[name].rows) for name in (left, right))
        if rows <= 8:
            self._take(Merge(self._fresh(), (left, right)))

    @invariant()
    def own_invariants_hold(self) -> None:
        """The decoder's own check of the caches in use."""
        broken = self.decoder.broken_invariant()
        assert broken is None, f"check_invariants: {broken}; {self._reproduction()}"  # noqa: S101

    def teardown(self) -> None:
        """All caches are done with; then nothing may be left in the decoder's accounts."""
        if hasattr(self, "decoder"):
            self.decoder.release_all()
            self.own_invariants_hold()
            self._could_have_failed()

    def _could_have_failed(self) -> None:
        """Rows that could not show a mistake are no reason for a green test."""
        reason = None if self.allow_inconclusive else unconfirmed(self.tally)
        if reason is not None:
            raise AssertionError(f"INCONCLUSIVE (allow_inconclusive): {sentence(reason)}")

    @property
    def _branches(self) -> Branches:
        return self.player.branches

    def _take(self, step: Step, tokens: Sequence[int] = ()) -> None:
        """One step; what the decoder refuses has not happened."""
        try:
            answered = self.player.do(step, tokens)
        except Unsupported:
            return
        except DecoderError as error:
            self.done.append(step)
            self.tokens += tokens
            raise AssertionError(f"{error}; {self._reproduction()}") from error
        self.done.append(step)
        self.tokens += tokens
        for one in answered:
            self._compare(step, one)

    def _compare(self, step: Step, one: SequenceRows) -> None:
        __tracebackhide__ = True
        due = self.decoder.full(one.tokens)[one.past :]
        found = judged(
            self.decoder,
            _COMPARISON.of(one.rows, due, self.decoder.bounds(due), position=one.past),
            one.tokens,
            lambda twin: _PROGRAMS.try_on(twin, self._case()),
        )
        self.tally.note(Trial(self.seed, self.decoder, self._case()), found)
        broken = found.finding.violation
        if broken is None or (found.judgement is Judgement.DOUBTFUL and self.allow_inconclusive):
            return
        doubt = "" if found.wrong else "INCONCLUSIVE, a mistake or rounding (allow_inconclusive): "
        raise AssertionError(
            f"{doubt}branch {step.branch} gives other rows than full over its {len(one.tokens)} "
            f"tokens: position {broken.position}, |difference| {broken.difference or 0:.1e}, "
            f"tolerance {broken.tolerance:.1e}; {self._reproduction()}"
        )

    def _case(self) -> Case:
        """The steps so far, with their tokens."""
        return Case(tuple(self.tokens), Schedule(tuple(self.done)))

    def _reproduction(self) -> str:
        """The case in one line that the command line takes."""
        tokens = ",".join(map(str, self.tokens))
        schedule = str(Schedule(tuple(self.done))) if self.tokens else "(no call)"
        where = f"--tokens {tokens} --seed {self.seed}"
        return f'cachecheck shrink {self.target} "{schedule}" {where}'

    def _offers(self, name: str) -> bool:
        return name in self.decoder.capabilities.offers

    def _has_room(self) -> bool:
        return len(self._branches.live) < self.max_branches

    def _names(self, *, batch: bool | None = None, least: int = 0) -> list[str]:
        return [
            name
            for name, branch in self._branches.live.items()
            if batch in (None, branch.batch) and branch.length >= least
        ]

    def _name(self, pick: int, names: list[str] | None = None) -> str:
        chosen = self._names() if names is None else names
        return chosen[pick % len(chosen)]

    def _chosen(self, name: str, rows: list[int]) -> tuple[int, ...]:
        count = len(self._branches.live[name].rows)
        return tuple(row % count for row in rows)

    def _fresh(self) -> str:
        return branch_name(len(self._branches.live) + len(self._branches.ended))
