"""The strategy for cases: what a law is tried on, under `cachecheck fuzz` and in your own tests."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument
from hypothesis.strategies import DrawFn, SearchStrategy

from cachecheck.errors import TargetError
from cachecheck.guard import Guarded
from cachecheck.laws import LAWS, Law
from cachecheck.schedule import Case, Schedule
from cachecheck.strategies._draws import chance
from cachecheck.strategies._plain import draw_chunks, draw_length, draw_tokens
from cachecheck.strategies._program import draw_program
from cachecheck.strategies._validation import check_integer

LENGTH = 24
"""Longest sequence drawn by default, as in the published experiment."""

# A window is crossed twice over up to the first of these, by a few tokens up to the second; what is
# longer still needs a max_length, and the command's verdict says so.
_CROSSED_TWICE, _CROSSED = 96, 300

_OF_SINGLES = frozenset({"new", "crop", "save", "reset"})


def cases(decoder: Any, law: str | Law, *, max_length: int | None = None) -> SearchStrategy[Case]:
    """Returns a strategy which generates cases to try a law on with a decoder.

    * ``decoder`` is a decoder, or the `Guarded` around one: the operations that it offers, its
      vocabulary, window and maximal length are drawn within.
    * ``law`` is a law of `cachecheck.laws.LAWS`, or its ID: "schedule", "crop", "programs".
    * ``max_length`` bounds the tokens of any sequence. By default it is 24, or what it takes to
      cross the decoder's window: twice up to a window of 47, by 8 tokens up to one of 292.

    `cachecheck fuzz` draws its cases from this strategy. Caches go wrong on a history, so that 7 of
    10 plain cases have two thirds of the maximal length or more; with a window, 3 of 10 are instead
    as long as it, one token less, one or two more, or twice as long. They are cut at random, into
    equal chunks, or into a prefill and single tokens. A law about cache operations gets `programs`
    of those that the decoder offers. Tokens after the 64th follow from one drawn seed, so that long
    cases fit into what Hypothesis can hold.

    Examples from this strategy shrink towards one call of one token 0 (two calls where a law says
    nothing about one), and for a law about operations as `programs` does. They shrink to short
    cases, not always to the smallest one: `cachecheck shrink` goes on from there.

    .. code-block:: pycon

        >>> cases(MyDecoder(), "schedule").example()
        Case(tokens=(7, 0, 31, 4, 4, 12), schedule=Schedule.parse('2+3+1'))
        >>> cases(MyDecoder(), "crop", max_length=8).example()
        Case(tokens=(5, 1, 1, 9, 30), schedule=Schedule.parse('4 crop2 1'))
        >>> decoders().flatmap(lambda decoder: cases(decoder, "branch")).example()
        Case(tokens=(3, 3, 8, 0), schedule=Schedule.parse('2 b=a 1 b:1'))
    """
    chosen = LAWS.get(law) if isinstance(law, str) else law
    if not isinstance(chosen, Law):
        raise InvalidArgument(f"law={law!r} must be a law, or one of {', '.join(LAWS)}")
    if isinstance(decoder, type):
        raise InvalidArgument(f"decoder={decoder.__name__} is a class; give a decoder made of it")
    try:
        guarded = decoder if isinstance(decoder, Guarded) else Guarded(decoder)
    except TargetError as error:
        raise InvalidArgument(f"decoder={decoder!r} is no decoder: {error}") from error
    lacking = chosen.lacking(guarded)
    if lacking is not None:
        raise InvalidArgument(f"law={chosen.id!r} needs what this decoder lacks: {lacking}")
    if max_length is not None:
        check_integer("max_length", max_length, least=1)
    return _cases(guarded, chosen, longest(guarded, max_length))


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


@st.composite
def _cases(draw: DrawFn, decoder: Guarded, law: Law, most: int) -> Case:
    write = _program if law.operations else _plain
    schedule = write(draw, decoder, law, most)
    return Case(draw_tokens(draw, schedule.length, decoder.vocab_size), schedule)


def _plain(draw: DrawFn, decoder: Guarded, law: Law, most: int) -> Schedule:
    window = decoder.capabilities.window
    crossing = window + 1 if window is not None and "window" in law.needs else 1
    length = draw_length(draw, min(max(law.least_calls, crossing), most), most, window)
    return draw_chunks(draw, length, law.least_calls, window)


def _program(draw: DrawFn, decoder: Guarded, law: Law, most: int) -> Schedule:
    operations = law.operations & decoder.performable
    alone = "batch" in law.needs
    if not alone and "batch" in operations and chance(draw, 50):
        # Beside branches of one sequence, merging and splitting would hardly come up.
        operations, alone = operations - _OF_SINGLES, True
    even = decoder.capabilities.even_batches
    return draw_program(draw, operations, most, batches_alone=alone, even=even)
