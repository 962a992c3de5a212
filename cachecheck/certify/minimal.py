"""The smallest schedule on which a decoder breaks a law, found by trying every smaller one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from cachecheck.certify.enumeration import ProgramRuns, certify_programs
from cachecheck.errors import InputError
from cachecheck.guard import Guarded
from cachecheck.laws import Law
from cachecheck.schedule import Case, Schedule
from cachecheck.schedule.tokens import tokens_of_seed

_MOST = 12
"""Most tokens whose partitions are run one by one, for laws without a certification."""


def cuts_up_to(length: int) -> Iterator[Schedule]:
    """Every plain schedule of at most so many tokens, in the order of ``shrink.size_of``."""
    for total in range(1, length + 1):
        for calls in range(1, total + 1):
            for cuts in combinations(range(1, total), calls - 1):
                edges = (0, *cuts, total)
                yield Schedule.of([stop - start for start, stop in pairwise(edges)])


def smallest_cuts(decoder: Guarded, law: Law, length: int) -> str | None:
    """The smallest plain schedule of at most ``length`` tokens on which ``law`` is broken.

    Raises:
        InputError: more tokens than can be run in every way.
        Unsupported: the decoder lacks what the law needs.
    """
    if length > _MOST:
        raise InputError(f"all partitions of at most {_MOST} tokens can be run; got {length}")
    run = ProgramRuns(decoder, law, continue_after_errors=True)
    tokens = tokens_of_seed(0, length, decoder.vocab_size)
    for schedule in cuts_up_to(length):
        if len(schedule.steps) < law.least_calls:
            continue
        if run.violation(Case(tokens[: schedule.length], schedule)) is not None:
            return str(schedule)
    return None


def smallest_program(
    decoder: Guarded, law: Law, within: Schedule, ids: Sequence[int] | None = None
) -> str | None:
    """The smallest program on which ``law`` is broken, with at most the tokens and steps given.

    Raises:
        Unsupported: the decoder lacks what the law needs.
    """
    tokens, steps = within.length, len(within.steps)
    found = certify_programs(decoder, law, tokens=tokens, steps=steps, thorough=True, ids=ids)
    return found.schedule
