"""Smaller programs: schedules with cache operations.

A move changes some steps; `repair` then fits or drops the others, so that dropping a fork drops
the steps on it as well. Here are the moves on steps and tokens; `branches`
has those on branches and rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from cachecheck.schedule import Append, Case, Crop, Release, Reset, Save
from cachecheck.shrink import branches
from cachecheck.shrink.narrowing import narrower, narrower_twice
from cachecheck.shrink.repair import StepWithTokens, case_of, repair, steps_of


def smaller(case: Case) -> Iterator[Case]:
    """Cases one move away, the boldest first. Not every one is smaller: ask `size_of`.

    Moves: drop steps, move a branch's steps to its source, shorten calls (and rollbacks along with
    them), join calls, move cuts, change a rollback, use fewer rows, do something plainer, exchange
    branches, lower tokens.
    """
    steps = steps_of(case)
    moves = (
        *(
            _drop_run,
            _drop,
            branches.redirect,
            _shorten_rows,
            _shorten,
            _shorten_pairs,
            _join,
            _recrop,
        ),
        *(
            branches.fewer_rows,
            narrower,
            branches.choose_rows,
            branches.swap_rows,
            _do_plainer,
            branches.plainer,
        ),
        *(branches.before_fork, branches.exchange, _swap, narrower_twice, _lower),
    )
    for candidate in chain.from_iterable(move(steps) for move in moves):
        fitting = repair(candidate)
        if any(tokens for _, tokens in fitting):
            yield case_of(fitting)


def _drop_run(steps: list[StepWithTokens]) -> Iterator[list[StepWithTokens]]:
    """Without a run of steps: halves, quarters and so on."""
    size = len(steps) // 2
    while size > 1:
        for start in range(0, len(steps) - size + 1, max(1, size // 2)):
            yield steps[:start] + steps[start + size :]
        size //= 2


def _drop(steps: list[StepWithTokens]) -> Iterator[list[StepWithTokens]]:
    """Without one step, or without two."""
    for at in range(len(steps)):
        yield steps[:at] + steps[at + 1 :]
    for first in range(len(steps)):
        for second in range(first + 1, len(steps)):
            yield steps[:first] + steps[first + 1 : second] + steps[second + 1 :]


def _shorten_rows(steps: list[StepWithTokens]) -> Iterator[list[StepWithTokens]]:
    """All rows of a batch's call shorter together: some decoders take no others."""
    for at, (step, tokens) in enumerate(steps):
        if not isinstance(step, Append) or len(step.sizes) < 2:
            continue
        for most in range(1, max(step.sizes)):
            sizes = tuple(min(size, most) for size in step.sizes)
            kept: list[int] = []
            begin = 0
            for size, left in zip(step.sizes, sizes, strict=True):
                kept += tokens[begin : begin + left]
                begin += size
            yield [*steps[:at], (replace(step, sizes=sizes), tuple(kept)), *steps[at + 1 :]]


def _shorten(steps: list[StepWithTokens]) -> Iterator[list[StepWithTokens]]:
    """One call shorter; and so that later rollbacks take back as much as before."""
    for at, less in _shorter(steps):
        yield less
        yield _crops_lower(less, steps, at)


def _shorter(steps: list[StepWithTokens]) -> Iterator[tuple[int, list[StepWithTokens]]]:
    for at, (step, tokens) in enumerate(steps):
        if not isinstance(step, Append):
            continue
        begin = 0
        for row, size in enumerate(step.sizes):
            for left in range(1, size):
                sizes = (*step.sizes[:row], left, *step.sizes[row + 1 :])
                # The first tokens go, or the last: both may matter.
                for some in (
                    tokens[:begin] + tokens[begin + size - left :],
                    tokens[: begin + left] + tokens[begin + size :],
                ):
                    yield at, [*steps[:at], (replace(step, sizes=sizes), some), *steps[at + 1 :]]
            begin += size


def _crops_lower(
    less: list[StepWithTokens], steps: list[StepWithTokens], at: int
) -> list[StepWithTokens]:
    lost = len(steps[at][1]) - len(less[at][1])
    return [
        (replace(step, length=max(1, step.length - lost)), some)
        if isinstance(step, Crop) and number > at
        else (step, some)
        for number, (step, some) in enumerate(less)
    ]


def _shorten_pairs(steps: list[StepWithTokens]) -> Iterator[list[StepWithTokens]]:
    """Two calls a token shorter each, rollbacks with them: lengths may have to agree."""
    for at, once in _shorter(steps):
        if len(once[at][1]) == len(steps[at][1]) - 1:
            for again, twice in _shorter(once):
                if again > at and len(twice[again][1]) == len(once[again][1]) - 1:
                    yield twice
                    yield _crops_lower(twice, once, at)


def _join(steps: list[StepWithTokens]) -> Iterator[list[StepWithTokens]]:
    """Two calls in a row on one branch as one, or with the cut elsewhere."""
    for at in range(len(steps) - 1):
        (left, some), (right, more) = steps[at], steps[at + 1]
        if not (isinstance(left, Append) and isinstance(right, Append)):
            continue
        if left.branch != right.branch or len(left.sizes) > 1 or len(right.sizes) > 1:
            continue
        both = some + more
        yield [*steps[:at], (replace(left, sizes=(len(both),)), both), *steps[at + 2 :]]
        for cut in range(1, len(some)):
            first = (replace(left, sizes=(cut,)), both[:cut])
            second = (replace(right, sizes=(len(both) - cut,)), both[cut:])
            yield [*steps[:at], first, second, *steps[at + 2 :]]


def _recrop(steps: list[StepWithTokens]) -> Iterator[list[StepWithTokens]]:
    for at, (step, _) in enumerate(steps):
        if isinstance(step, Crop):
            for length in range(1, step.length):
                yield [*steps[:at], (replace(step, length=length), ()), *steps[at + 1 :]]


_FAMILIES = {
    "append": "",
    **dict.fromkeys(("fork", "new"), "branches"),
    **dict.fromkeys(("split", "reorder", "merge"), "batches"),
}


def _do_plainer(steps: list[StepWithTokens]) -> Iterator[list[StepWithTokens]]:
    """A save or a reset in place of something larger: a release, a rollback, a call.

    Only where operations are mixed: a case of forks alone, say, may be meant to show forks, and a
    save would show something else.
    """
    families = {_FAMILIES.get(step.operation, step.operation) for step, _ in steps}
    if len(families - {""}) < 2:
        return
    for at, (step, _) in enumerate(steps):
        if isinstance(step, Append | Crop | Reset | Release):
            for other in (Save, Reset):
                changed = [*steps[:at], (other(step.branch), ()), *steps[at + 1 :]]
                yield changed
                yield [
                    _with_one_token(one) for one in changed
                ]  # a rollback may have needed more tokens


def _with_one_token(one: StepWithTokens) -> StepWithTokens:
    """A call on one sequence with its first token alone."""
    step, tokens = one
    if isinstance(step, Append) and len(step.sizes) == 1:
        return replace(step, sizes=(1,)), tokens[:1]
    return one


def _swap(steps: list[StepWithTokens]) -> Iterator[list[StepWithTokens]]:
    """Two steps in a row in the other order: plainer ones first."""
    for at in range(len(steps) - 1):
        yield [*steps[:at], steps[at + 1], steps[at], *steps[at + 2 :]]


def _lower(steps: list[StepWithTokens]) -> Iterator[list[StepWithTokens]]:
    for at, (step, tokens) in enumerate(steps):
        for place, token in enumerate(tokens):
            for lower in sorted({low for low in (0, 1, token // 2, token - 1) if 0 <= low < token}):
                some = (*tokens[:place], lower, *tokens[place + 1 :])
                yield [*steps[:at], (step, some), *steps[at + 1 :]]
