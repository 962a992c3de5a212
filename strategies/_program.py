"""A program as it is drawn: calls, and operations between them.

The shapes that break caches are drawn on purpose: rollbacks of one token and of many, a fork that
goes on at once, operations on empty and on full branches, ragged calls.
"""

from __future__ import annotations

from hypothesis.strategies import DrawFn

from cachecheck.schedule import FIRST, Append, Schedule, Step
from cachecheck.strategies._draws import chance, number, pick
from cachecheck.strategies._operations import KINDS, Live, new_batch

_STEPS = 14  # between the first call and the last ones
_SHORT = 3  # tokens of a call, in the half of the programs where all calls are short


def draw_program(
    draw: DrawFn, operations: frozenset[str], longest: int, *, batches_alone: bool, even: bool
) -> Schedule:
    """One program: tokens first, then operations and tokens in turn, tokens last.

    Args:
        draw: of the composite strategy that it is drawn for.
        operations: some of `KINDS`.
        longest: tokens in any sequence.
        batches_alone: whether branches of one sequence are left out.
        even: whether a batch's rows all get as many tokens, once it holds any.
    """
    # With long calls alone, a long history has no time to build up.
    most_new = longest if chance(draw, 50) else min(_SHORT, longest)
    program = _Program(draw, operations, longest, most_new, Live(batches_alone), even=even)
    program.begin()
    operated, left = batches_alone and "batch" in operations, _STEPS
    # 0 to `_STEPS` steps, each number as often. Drawn as a question before each step, and not as
    # one number, so that shrinking can leave any of them out.
    while left and (drawn := number(draw, 0, 2 * left + 1)) > 1:
        left -= 1
        if drawn % 2:
            operated |= program.operate()
        else:
            program.append()
    if not operated:  # it would be a plain schedule
        program.operate()
    # Each branch goes on once more: what an operation broke shows in later rows only.
    for name in program.live.names():
        program.append_to(name)
    return Schedule(tuple(program.steps))


class _Program:
    """The steps so far."""

    def __init__(
        self,
        draw: DrawFn,
        operations: frozenset[str],
        longest: int,
        most_new: int,
        live: Live,
        *,
        even: bool,
    ) -> None:
        self.draw, self.operations, self.live = draw, operations, live
        self.longest, self.most_new, self.even = longest, most_new, even
        self.steps: list[Step] = []

    def begin(self) -> None:
        """The first call; of batches alone, the first batch."""
        if self.live.batches_alone:
            self._take(new_batch(self.draw, self.live))
            return
        least = 2 if self.operations == {"crop"} else 1  # nothing can be taken back of one token
        self._take(Append(FIRST, (self._size(0, least),)))

    def append(self) -> None:
        """A call on some branch that has room left."""
        names = [name for name in self.live.names() if self.live.length(name) < self.longest]
        if names:
            self.append_to(pick(self.draw, names))

    def append_to(self, name: str) -> None:
        """A call on this branch, if it has room left."""
        past, rows = self.live.length(name), self.live.branches.live[name].rows
        if self.even and past:
            sizes = (self._size(past),) * len(rows)
        else:
            sizes = tuple(self._size(len(row)) for row in rows)
        if past < self.longest:  # drawn all the same: shrinking would fill branches to draw less
            self._take(Append(name, sizes))

    def operate(self) -> bool:
        """An operation that fits, all kinds alike; whether there was one."""
        fitting = {name: KINDS[name].fits(self.live) for name in KINDS if name in self.operations}
        names = [name for name, on in fitting.items() if on]
        if names:
            name = pick(self.draw, names)
            self._take(KINDS[name].step(self.draw, self.live, pick(self.draw, fitting[name])))
        return bool(names)

    def _size(self, past: int, least: int = 1) -> int:
        """Tokens of a call; the least, as servers mostly ask for, in 30% beside its own share."""
        most = max(1, min(self.longest - past, self.most_new))
        least = min(least, most)
        drawn = number(self.draw, least, most + -(-3 * most // 7))
        return drawn if drawn <= most else least

    def _take(self, step: Step) -> None:
        size = sum(step.sizes) if isinstance(step, Append) else 0
        self.live.branches.apply(step, (0,) * size)
        self.steps.append(step)
