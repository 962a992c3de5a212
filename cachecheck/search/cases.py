"""Trials for a search: decoders, and cases to try a law on."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import hypothesis
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from cachecheck.guard import CallLimit, Guarded, NotOfferedError
from cachecheck.judge import Trial
from cachecheck.laws import Law
from cachecheck.schedule import Case
from cachecheck.strategies.cases import cases

T = TypeVar("T")

_BYTES = 8192  # more than a case takes, and as many as Hypothesis uses


@dataclass(frozen=True)
class Effort:
    """The amount of work for a search.

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


def numbered_cases(
    make: Callable[[int], Guarded], decoder_seeds: range, law: Law, effort: Effort
) -> Callable[[int], Trial]:
    """A function from a number to a decoder and a case for ``law``, of `strategies.cases`."""
    strategy = trials(make, decoder_seeds, law, effort.max_length)
    return numbered(strategy, effort.case_seed or str(effort.seed))


def numbered(strategy: SearchStrategy[T], seed: str) -> Callable[[int], T]:
    """A function from a number to an example of ``strategy``, each drawn afresh.

    Hypothesis reads the example out of random bytes: through ``fuzz_one_input``, which is there for
    those who have a loop of their own. Its own loop begins with small examples, and goes on to
    repeat and to mutate what it drew, so that cases come out short and alike
    (benchmarks/kills_per_call.py measures both).
    """
    found: list[T] = []

    @hypothesis.settings(database=None, suppress_health_check=list(hypothesis.HealthCheck))
    @hypothesis.given(strategy)
    def keep(example: T) -> None:
        found.append(example)

    def example(number: int) -> T:
        rng = random.Random(f"{seed}/{number}")  # noqa: S311 - nothing secret about it
        keep.hypothesis.fuzz_one_input(rng.randbytes(_BYTES))  # type: ignore[attr-defined]
        return found.pop()

    return example


@st.composite
def trials(
    draw: DrawFn,
    make: Callable[[int], Guarded],
    decoder_seeds: range,
    law: Law,
    max_length: int | None,
) -> Trial:
    """The next decoder, from a drawn seed on, that has what the law is about; and a case for it."""
    first = draw(st.integers(0, len(decoder_seeds) - 1))
    for seed in (*decoder_seeds[first:], *decoder_seeds[:first]):
        decoder = make(seed)
        if law.lacking(decoder) is None:
            return Trial(seed, decoder, draw(cases(decoder, law, max_length=max_length)))
    raise NotOfferedError(law.lacking(decoder) or law.id)
