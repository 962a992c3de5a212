"""Smaller plain schedules: one sequence cut into chunks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from cachecheck.schedule import Case


def smaller(case: Case) -> Iterator[Case]:
    """Cases one step below a plain one, the boldest steps first.

    Steps: drop a chunk, shorten one or two neighbours, drop a token, merge two neighbours, move a
    cut, lower a token.
    """
    steps = (_drop_chunk, _shorten, _drop_token, _shorten_both, _merge, _move_cut, _lower)
    return chain.from_iterable(step(case) for step in steps)


def _drop_chunk(case: Case) -> Iterator[Case]:
    chunks = case.schedule.chunks
    if len(chunks) > 1:
        for number, (start, stop) in enumerate(case.schedule.spans):
            tokens = case.tokens[:start] + case.tokens[stop:]
            yield Case.of(tokens, chunks[:number] + chunks[number + 1 :])


def _shorten(case: Case) -> Iterator[Case]:
    """One chunk shorter by several tokens, its first ones: a fault may want every fourth length."""
    chunks = case.schedule.chunks
    for number, (start, stop) in enumerate(case.schedule.spans):
        for size in range(1, chunks[number] - 1):
            tokens = case.tokens[:start] + case.tokens[stop - size :]
            yield Case.of(tokens, (*chunks[:number], size, *chunks[number + 1 :]))


def _shorten_both(case: Case) -> Iterator[Case]:
    """Two neighbouring chunks shorter by as much: a fault may want them of one size."""
    chunks = case.schedule.chunks
    for number, (start, stop) in enumerate(case.schedule.spans[:-1]):
        pair = chunks[number : number + 2]
        for less in range(min(pair) - 1, 0, -1):
            left, right = pair[0] - less, pair[1] - less
            tokens = case.tokens[:start] + case.tokens[stop - left : stop]
            tokens += case.tokens[stop + less :]
            yield Case.of(tokens, (*chunks[:number], left, right, *chunks[number + 2 :]))


def _drop_token(case: Case) -> Iterator[Case]:
    chunks = case.schedule.chunks
    for number, (start, stop) in enumerate(case.schedule.spans):
        if chunks[number] > 1:
            fewer = (*chunks[:number], chunks[number] - 1, *chunks[number + 1 :])
            for at in range(start, stop):
                yield Case.of(case.tokens[:at] + case.tokens[at + 1 :], fewer)


def _merge(case: Case) -> Iterator[Case]:
    chunks = case.schedule.chunks
    for number in range(len(chunks) - 1):
        merged = chunks[number] + chunks[number + 1]
        yield Case.of(case.tokens, (*chunks[:number], merged, *chunks[number + 2 :]))


def _move_cut(case: Case) -> Iterator[Case]:
    """Cuts moved forward, so that 3+2 becomes 1+4."""
    chunks = case.schedule.chunks
    for number in range(len(chunks) - 1):
        for size in range(1, chunks[number]):
            moved = (size, chunks[number] + chunks[number + 1] - size)
            yield Case.of(case.tokens, (*chunks[:number], *moved, *chunks[number + 2 :]))


def _lower(case: Case) -> Iterator[Case]:
    tokens = case.tokens
    for at, token in enumerate(tokens):
        for lower in sorted({low for low in (0, 1, token // 2, token - 1) if 0 <= low < token}):
            yield Case.of((*tokens[:at], lower, *tokens[at + 1 :]), case.schedule.chunks)
