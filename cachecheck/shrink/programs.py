"""Smaller programs: schedules with cache operations.

A move changes some steps; what no longer fits afterwards is repaired or left out (`mending`), so
that dropping a fork drops what was done on it. Here are the moves on steps and tokens; `branches`
has those on branches and rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from cachecheck.schedule import Append, Case, Crop, Release, Reset, Save
from cachecheck.shrink import branches
from cachecheck.shrink.narrowing import narrower, narrower_twice
from cachecheck.shrink.repair import Fed, case_of, fed_of, repaired


def smaller(case: Case) -> Iterator[Case]:
    """Cases one move below, the boldest first. Not every one is smaller: ask `size_of`.

    Moves: drop steps, put a branch's steps on its source, shorten calls (and rollbacks along with
    them), join calls, move cuts, change a rollback, use fewer rows, do something plainer, exchange
    branches, lower tokens.
    """
    fed = fed_of(case)
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
    for candidate in chain.from_iterable(move(fed) for move in moves):
        fitting = repaired(candidate)
        if any(tokens for _, tokens in fitting):
            yield case_of(fitting)


def _drop_run(fed: list[Fed]) -> Iterator[list[Fed]]:
    """Without a run of steps: halves, quarters and so on."""
    size = len(fed) // 2
    while size > 1:
        for start in range(0, len(fed) - size + 1, max(1, size // 2)):
            yield fed[:start] + fed[start + size :]
        size //= 2


def _drop(fed: list[Fed]) -> Iterator[list[Fed]]:
    """Without one step, or without two."""
    for at in range(len(fed)):
        yield fed[:at] + fed[at + 1 :]
    for first in range(len(fed)):
        for second in range(first + 1, len(fed)):
            yield fed[:first] + fed[first + 1 : second] + fed[second + 1 :]


def _shorten_rows(fed: list[Fed]) -> Iterator[list[Fed]]:
    """All rows of a batch's call shorter together: some decoders take no others."""
    for at, (step, tokens) in enumerate(fed):
        if not isinstance(step, Append) or len(step.sizes) < 2:
            continue
        for most in range(1, max(step.sizes)):
            sizes = tuple(min(size, most) for size in step.sizes)
            kept: list[int] = []
            begin = 0
            for size, left in zip(step.sizes, sizes, strict=True):
                kept += tokens[begin : begin + left]
                begin += size
            yield [*fed[:at], (replace(step, sizes=sizes), tuple(kept)), *fed[at + 1 :]]


def _shorten(fed: list[Fed]) -> Iterator[list[Fed]]:
    """One call shorter; and so that later rollbacks take back as much as before."""
    for at, less in _shorter(fed):
        yield less
        yield _crops_lower(less, fed, at)


def _shorter(fed: list[Fed]) -> Iterator[tuple[int, list[Fed]]]:
    for at, (step, tokens) in enumerate(fed):
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
                    yield at, [*fed[:at], (replace(step, sizes=sizes), some), *fed[at + 1 :]]
            begin += size


def _crops_lower(less: list[Fed], fed: list[Fed], at: int) -> list[Fed]:
    lost = len(fed[at][1]) - len(less[at][1])
    return [
        (replace(step, length=max(1, step.length - lost)), some)
        if isinstance(step, Crop) and number > at
        else (step, some)
        for number, (step, some) in enumerate(less)
    ]


def _shorten_pairs(fed: list[Fed]) -> Iterator[list[Fed]]:
    """Two calls a token shorter each, rollbacks with them: lengths may have to agree."""
    for at, once in _shorter(fed):
        if len(once[at][1]) == len(fed[at][1]) - 1:
            for again, twice in _shorter(once):
                if again > at and len(twice[again][1]) == len(once[again][1]) - 1:
                    yield twice
                    yield _crops_lower(twice, once, at)


def _join(fed: list[Fed]) -> Iterator[list[Fed]]:
    """Two calls in a row on one branch as one, or with the cut elsewhere."""
    for at in range(len(fed) - 1):
        (left, some), (right, more) = fed[at], fed[at + 1]
        if not (isinstance(left, Append) and isinstance(right, Append)):
            continue
        if left.branch != right.branch or len(left.sizes) > 1 or len(right.sizes) > 1:
            continue
        both = some + more
        yield [*fed[:at], (replace(left, sizes=(len(both),)), both), *fed[at + 2 :]]
        for cut in range(1, len(some)):
            first = (replace(left, sizes=(cut,)), both[:cut])
            second = (replace(right, sizes=(len(both) - cut,)), both[cut:])
            yield [*fed[:at], first, second, *fed[at + 2 :]]


def _recrop(fed: list[Fed]) -> Iterator[list[Fed]]:
    for at, (step, _) in enumerate(fed):
        if isinstance(step, Crop):
            for length in range(1, step.length):
                yield [*fed[:at], (replace(step, length=length), ()), *fed[at + 1 :]]


_FAMILIES = {
    "append": "",
    **dict.fromkeys(("fork", "new"), "branches"),
    **dict.fromkeys(("split", "reorder", "merge"), "batches"),
}


def _do_plainer(fed: list[Fed]) -> Iterator[list[Fed]]:
    """A save or a reset in the place of something larger: a release, a rollback, a call.

    Only where operations are mixed: a case of forks alone, say, may be meant to show what forks
    do, and a save would show something else.
    """
    families = {_FAMILIES.get(step.operation, step.operation) for step, _ in fed}
    if len(families - {""}) < 2:
        return
    for at, (step, _) in enumerate(fed):
        if isinstance(step, Append | Crop | Reset | Release):
            for other in (Save, Reset):
                changed = [*fed[:at], (other(step.branch), ()), *fed[at + 1 :]]
                yield changed
                yield [_single(one) for one in changed]  # a rollback may have needed more tokens


def _single(fed: Fed) -> Fed:
    """A call on one sequence with its first token alone."""
    step, tokens = fed
    if isinstance(step, Append) and len(step.sizes) == 1:
        return replace(step, sizes=(1,)), tokens[:1]
    return fed


def _swap(fed: list[Fed]) -> Iterator[list[Fed]]:
    """Two steps in a row in the other order: plainer ones first."""
    for at in range(len(fed) - 1):
        yield [*fed[:at], fed[at + 1], fed[at], *fed[at + 2 :]]


def _lower(fed: list[Fed]) -> Iterator[list[Fed]]:
    for at, (step, tokens) in enumerate(fed):
        for place, token in enumerate(tokens):
            for lower in sorted({low for low in (0, 1, token // 2, token - 1) if 0 <= low < token}):
                some = (*tokens[:place], lower, *tokens[place + 1 :])
                yield [*fed[:at], (step, some), *fed[at + 1 :]]
