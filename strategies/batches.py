"""Ragged batches of attention problems: rows of different pasts and chunks, padded to one shape.

Nothing here knows a decoder. Give the padded arrays to any attention function, and compare what it
makes of the real rows with `RaggedBatch.attend`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument
from hypothesis.strategies import DrawFn, SearchStrategy
from numpy.typing import NDArray

from cachecheck.strategies._validation import check_integer
from cachecheck.strategies.problems import AttentionProblem, new_problem
from cachecheck.strategies.sequences import seeds

SIDES = ("right", "left")
"""The sides on which padding stands, of queries and of keys."""


class RaggedBatch(NamedTuple):
    """Problems of different sizes, as one batch of padded arrays.

    ``query`` is (B, H, T, D), ``key`` and ``value`` are (B, G, S, D), with the T and S of the
    largest. ``query_padding`` is (B, T) and ``key_padding`` (B, S), True at a pad. ``mask`` is
    (B, 1, T, S), True where a row may see a key: a real row sees what its own problem says, a pad
    sees nothing, so that what comes out there is nobody's business. ``side`` is one of `SIDES`.
    """

    problems: tuple[AttentionProblem, ...]
    query: NDArray[np.floating]
    key: NDArray[np.floating]
    value: NDArray[np.floating]
    query_padding: NDArray[np.bool_]
    key_padding: NDArray[np.bool_]
    mask: NDArray[np.bool_]
    side: str

    def attend(self) -> list[NDArray[np.float64]]:
        """The right rows in float64, an array (H, its own T, D) for each problem."""
        return [problem.attend() for problem in self.problems]

    def real(self, rows: NDArray[np.floating]) -> list[NDArray[np.floating]]:
        """``rows`` (B, H, T, D) without padding: an array (H, its own T, D) for each problem."""
        pairs = zip(rows, self.query_padding, strict=True)
        return [some[:, ~padding] for some, padding in pairs]

    def __repr__(self) -> str:
        sizes = ", ".join(f"{one.past}+{len(one.query_positions)}" for one in self.problems)
        return (
            f"RaggedBatch({sizes}; side={self.side!r}, window={self.problems[0].window}, "
            f"heads={self.query.shape[1]}, key_value_heads={self.key.shape[1]}, "
            f"head_width={self.query.shape[3]})"
        )


def ragged_batches(
    *,
    windows: SearchStrategy[int | None] | None = None,
    sides: Collection[str] = SIDES,
    max_rows: int = 3,
    max_past: int = 8,
    max_chunk: int = 5,
    max_groups: int = 2,
    max_heads_per_group: int = 2,
    head_width: int = 8,
    dtype: str = "float64",
) -> SearchStrategy[RaggedBatch]:
    """Returns a strategy which generates padded batches of attention problems with their mask.

    * ``windows`` is a strategy for sliding windows, one for the whole batch; None stands for none,
      and so does None drawn from it.
    * ``sides`` are the sides on which to pad, in order: "right" and "left".
    * ``max_rows`` bounds B; ``max_past`` the keys before a row's chunk, ``max_chunk`` its tokens.
    * ``max_groups`` bounds G, the key/value heads; ``max_heads_per_group`` the query heads of each.
    * ``head_width`` is D, ``dtype`` that of the arrays: "float64" or "float32".

    Arrays are standard normal, pads too, and follow from a drawn seed: a row that attends to a pad
    comes out visibly wrong.

    Examples from this strategy shrink towards a single row without a past and with a chunk of one
    token, the first side, one head, no window (or what ``windows`` shrinks towards) and seed 0.

    .. code-block:: pycon

        >>> ragged_batches().example()
        RaggedBatch(3+2, 0+5; side='right', window=None, heads=2, ...)
        >>> ragged_batches(sides=["left"]).example()
        RaggedBatch(0+1, 7+4, 2+1; side='left', window=None, heads=1, ...)
        >>> ragged_batches(windows=st.integers(1, 4)).example()
        RaggedBatch(6+3, 1+1; side='right', window=2, heads=4, ...)
    """
    check_integer("max_rows", max_rows, least=1)
    check_integer("max_past", max_past, least=0)
    check_integer("max_chunk", max_chunk, least=1)
    check_integer("max_groups", max_groups, least=1)
    check_integer("max_heads_per_group", max_heads_per_group, least=1)
    check_integer("head_width", head_width, least=1)
    if dtype not in ("float64", "float32"):
        raise InvalidArgument(f"dtype={dtype!r} must be 'float64' or 'float32'")
    chosen = list(sides)
    if not chosen or any(side not in SIDES for side in chosen):
        raise InvalidArgument(f"sides={sides!r} must be taken from {', '.join(SIDES)}")
    drawn_windows = st.none() if windows is None else windows

    @st.composite
    def batches(draw: DrawFn) -> RaggedBatch:
        row = st.tuples(st.integers(0, max_past), st.integers(1, max_chunk))
        # The number by itself: left to a list, single rows dominate.
        drawn = [draw(row) for _ in range(draw(st.integers(1, max_rows)))]
        side = draw(st.sampled_from(chosen))
        window = draw(drawn_windows)
        groups = draw(st.integers(1, max_groups))
        heads = groups * draw(st.integers(1, max_heads_per_group))
        rng = np.random.default_rng(draw(seeds(max_value=2**16)))
        sizes = (heads, groups, head_width)
        problems = tuple(
            new_problem(rng, past, chunk, last_chunk=past, window=window, sizes=sizes, dtype=dtype)
            for past, chunk in drawn
        )
        return _padded(rng, problems, side)

    return batches()


def _padded(
    rng: np.random.Generator, problems: tuple[AttentionProblem, ...], side: str
) -> RaggedBatch:
    most_rows = max(len(problem.query_positions) for problem in problems)  # T
    most_keys = max(len(problem.key_positions) for problem in problems)  # S
    heads, _, width = problems[0].query.shape
    groups, dtype = len(problems[0].key), problems[0].query.dtype

    def pads(count: int, length: int) -> NDArray[np.floating]:
        return rng.normal(size=(len(problems), count, length, width)).astype(dtype)

    batch = RaggedBatch(
        problems=problems,
        query=pads(heads, most_rows),
        key=pads(groups, most_keys),
        value=pads(groups, most_keys),
        query_padding=np.ones((len(problems), most_rows), np.bool_),
        key_padding=np.ones((len(problems), most_keys), np.bool_),
        mask=np.zeros((len(problems), 1, most_rows, most_keys), np.bool_),
        side=side,
    )
    for at, problem in enumerate(problems):
        rows = _place(side, len(problem.query_positions), most_rows)
        keys = _place(side, len(problem.key_positions), most_keys)
        batch.query[at, :, rows], batch.query_padding[at, rows] = problem.query, False
        batch.key[at, :, keys], batch.value[at, :, keys] = problem.key, problem.value
        batch.key_padding[at, keys] = False
        batch.mask[at, 0, rows, keys] = problem.mask
    return batch


def _place(side: str, length: int, most: int) -> slice:
    """The places of ``length`` real ones among ``most``."""
    return slice(0, length) if side == "right" else slice(most - length, most)
