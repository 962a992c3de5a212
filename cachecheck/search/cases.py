"""What a search draws: decoders, and cases to try a law on."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from cachecheck.guard import CallLimit, Guarded
from cachecheck.judge import Trial
from cachecheck.laws import Law
from cachecheck.schedule import Case, Schedule, operations_of
from cachecheck.search.draws import draw_chunks, draw_length, draw_tokens
from cachecheck.search.programs import Room, draw_program

LENGTH = 24
"""Longest sequence drawn by default, as in the published experiment."""

# A window is crossed twice over up to the first of these, by a few tokens up to the second; what is
# longer still needs --max-length, and the verdict says so.
_CROSSED_TWICE, _CROSSED = 96, 300


_TRIES = 50  # decoders or programs drawn until one has what the law is about


@dataclass(frozen=True)
class Effort:
    """How hard to search.

    Attributes:
        seed: of the cases; decoders get this seed and the ones after it.
        examples: cases to draw; 0 for none but those known.
        max_length: longest sequence; None for 24, or more where a window asks for it.
        seconds: go on drawing for so long; None: stop after ``examples``.
        limit: how long a call of the decoder may take; None for ever.
        case_seed: of the cases alone, where it is another one.
        known: cases that failed before, each with its decoder's seed; they are tried first.
    """

    seed: int = 0
    examples: int = 200
    max_length: int | None = None
    seconds: float | None = None
    limit: CallLimit | None = None
    case_seed: str | None = None
    known: tuple[tuple[int, Case], ...] = ()


def longest(decoder: Guarded, max_length: int | None) -> int:
    """The longest sequence to draw for ``decoder``."""
    declared = decoder.capabilities
    wanted = max_length
    if wanted is None:
        wanted = LENGTH
        window = declared.window or 0
        for across, end in ((window + 8, _CROSSED), (2 * window + 2, _CROSSED_TWICE)):
            wanted = max(wanted, across) if across <= end else wanted
    return wanted if declared.max_length is None else min(wanted, declared.max_length)


def cases(
    make: Callable[[int], Guarded], decoder_seeds: range, law: Law, effort: Effort
) -> SearchStrategy[Trial]:
    """Decoders and cases for ``law``: see `from_numbers`."""
    return st.integers(0, 2**64 - 1).map(from_numbers(make, decoder_seeds, law, effort))


def from_numbers(
    make: Callable[[int], Guarded], decoder_seeds: range, law: Law, effort: Effort
) -> Callable[[int], Trial]:
    """From a number to a decoder and a case for ``law``.

    Hypothesis draws one number, and `random` makes the case from it. Trial piece by piece, cases
    come out short and as near copies of each other (Hypothesis repeats and mutates what it drew): a
    fault that waits for 16 tokens of history took 42 cases to meet instead of 5. What is lost is
    Hypothesis' shrinking, which `shrink` does better here.
    """

    def from_number(number: int) -> Trial:
        # With the seed, since Hypothesis begins every search with the number 0.
        rng = random.Random(f"{effort.case_seed or effort.seed}/{number}")  # noqa: S311 - nothing secret about it
        for _ in range(_TRIES):
            seed = rng.choice(decoder_seeds)
            decoder = make(seed)
            if law.lacking(decoder) is None:  # where seeds pick configurations, few may have it
                break
        schedule = _schedule(rng, decoder, law, longest(decoder, effort.max_length))
        tokens = draw_tokens(rng, schedule.length, decoder.vocab_size)
        return Trial(seed, decoder, Case(tokens, schedule))

    return from_number


def _schedule(rng: random.Random, decoder: Guarded, law: Law, most: int) -> Schedule:
    window = decoder.capabilities.window
    if not law.operations:
        crossing = window + 1 if window is not None and law.crosses else 1
        length = draw_length(rng, min(max(law.least_calls, crossing), most), most, window)
        return draw_chunks(rng, length, law.least_calls, window)
    operations = law.operations & decoder.performable
    single = "batch" not in law.needs
    if single and "batch" in operations and rng.random() < 0.5:
        # Beside branches of one sequence, merging and splitting would hardly come up.
        operations, single = operations - {"new", "crop", "save", "reset"}, False
    room = Room(most, window, single=single, even=decoder.capabilities.even_batches)
    for _ in range(_TRIES):
        schedule = draw_program(rng, operations, room)
        # Without one of its operations a case would say nothing about the law.
        if operations & operations_of(schedule):
            break
    return schedule
