"""The strategy for programs: schedules with cache operations on several branches."""

from __future__ import annotations

from collections.abc import Collection

from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument
from hypothesis.strategies import DrawFn, SearchStrategy

from cachecheck.schedule import Schedule
from cachecheck.strategies._operations import KINDS
from cachecheck.strategies._program import draw_program
from cachecheck.strategies._validation import check_integer


def programs(
    *,
    operations: Collection[str] | None = None,
    max_length: int = 24,
    batches_alone: bool = False,
    even_batches: bool = False,
) -> SearchStrategy[Schedule]:
    """Returns a strategy which generates programs: calls and cache operations on live branches.

    * ``operations`` are what a program may do besides calls: "fork", "new", "crop", "save",
      "reset", "release", and with "batch", a new batch, "reorder", "split" and "merge". By default
      all of them.
    * ``max_length`` bounds the tokens of any sequence.
    * ``batches_alone`` leaves out branches of one sequence: beside them, merging and splitting
      hardly come up.
    * ``even_batches`` gives every row of a batch as many tokens as the others, once it holds any.

    There is an operation in every program, as far as one fits (a rollback needs two tokens). Half
    of the programs have short calls, so that a long history builds up; every branch goes on once
    more in the end, since what an operation broke shows in later rows only. At most 4 branches
    are live at a time, and a batch has at most 4 rows, or 8 when merged.

    Examples from this strategy shrink towards a call of one token, one operation (the first in
    the order above that fits), and one token more on each branch.

    .. code-block:: pycon

        >>> str(programs(operations=["crop"]).example())
        '9+1 crop6 3+1 crop8 2'
        >>> str(programs(operations=["fork", "release"], max_length=8).example())
        '3 b=a b:2 a release b:1'
        >>> str(programs(batches_alone=True).example())
        'b=new*2 b:3/1 b:[1,1,0] b:1/1/4 c=b[2] c:2 b:1/3/1'
    """
    chosen = frozenset(KINDS if operations is None else operations)
    unknown = chosen - set(KINDS)
    if unknown or not chosen or isinstance(operations, str):
        raise InvalidArgument(f"operations={operations!r} must be taken from {', '.join(KINDS)}")
    check_integer("max_length", max_length, least=1)
    return _programs(chosen, max_length, batches_alone, even_batches)


@st.composite
def _programs(
    draw: DrawFn, operations: frozenset[str], longest: int, batches_alone: bool, even: bool
) -> Schedule:
    return draw_program(draw, operations, longest, batches_alone=batches_alone, even=even)
