"""Strategies for plain attention problems: arrays, positions and the mask that belongs to them.

Nothing here knows a decoder, so they serve any attention function: give it the arrays, compare
with `AttentionProblem.attend`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument
from hypothesis.strategies import DrawFn, SearchStrategy
from numpy.typing import NDArray

from cachecheck.reference.attention import attention
from cachecheck.reference.masks import WRONG_MASKS, offset_mask
from cachecheck.strategies._validation import check_integer
from cachecheck.strategies.sequences import seeds


class AttentionProblem(NamedTuple):
    """New rows over cached and new keys.

    ``query`` is (H, T, D); ``key`` and ``value`` are (G, S, D), the last T of the S positions being
    the chunk's own; ``query_positions`` is (T,), ``key_positions`` (S,); ``mask`` is (T, S), True
    where a row may see a key. ``past`` is S - T, and ``last_chunk`` the size of the call before.
    """

    query: NDArray[np.floating]
    key: NDArray[np.floating]
    value: NDArray[np.floating]
    query_positions: NDArray[np.int64]
    key_positions: NDArray[np.int64]
    mask: NDArray[np.bool_]
    window: int | None
    past: int
    last_chunk: int

    def attend(self, mask: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
        """The right rows in float64, (H, T, D); under another (T, S) ``mask`` if one is given.

        Raises:
            cachecheck.errors.InputError: the mask leaves a row without any key.
        """
        rows, _ = attention(
            self.query.astype(np.float64),
            self.key.astype(np.float64),
            self.value.astype(np.float64),
            self.mask if mask is None else mask,
        )
        return rows.astype(np.float64)

    def __repr__(self) -> str:
        heads, length, width = self.query.shape
        return (
            f"AttentionProblem(past={self.past}, chunk={length}, window={self.window}, "
            f"last_chunk={self.last_chunk}, heads={heads}, key_value_heads={len(self.key)}, "
            f"head_width={width})"
        )


class WrongMaskProblem(NamedTuple):
    """A problem with a deliberately wrong mask beside its right one.

    ``mask`` is the wrong one, (T, S); it may equal the right one (``differs`` tells), as many
    faults do on a first chunk or a single token.
    """

    problem: AttentionProblem
    name: str
    mask: NDArray[np.bool_]

    @property
    def differs(self) -> bool:
        """True if the wrong mask is wrong here."""
        return not np.array_equal(self.mask, self.problem.mask)


def offset_masks(
    *,
    windows: SearchStrategy[int | None] | None = None,
    max_past: int = 12,
    max_chunk: int = 8,
    max_groups: int = 2,
    max_heads_per_group: int = 2,
    head_width: int = 8,
    dtype: str = "float64",
) -> SearchStrategy[AttentionProblem]:
    """Returns a strategy which generates attention problems with their causal offset mask.

    * ``windows`` is a strategy for sliding windows; None stands for none, and so does None drawn
      from it.
    * ``max_past`` bounds the keys before the chunk, ``max_chunk`` the new rows.
    * ``max_groups`` bounds G, the key/value heads; ``max_heads_per_group`` the query heads of each.
    * ``head_width`` is D, ``dtype`` that of the three arrays: "float64" or "float32".

    Arrays are standard normal and follow from a drawn seed, so that shrinking the sizes keeps them
    generic: on zeros or ties a wrong mask would show nothing.

    Examples from this strategy shrink towards no past, a chunk of one token, one head, no window
    (or what ``windows`` shrinks towards) and seed 0.

    .. code-block:: pycon

        >>> offset_masks().example()
        AttentionProblem(past=7, chunk=3, window=None, last_chunk=2, heads=2, ...)
        >>> offset_masks().example()
        AttentionProblem(past=0, chunk=8, window=None, last_chunk=0, heads=1, ...)
        >>> offset_masks(windows=st.integers(1, 4)).example()
        AttentionProblem(past=5, chunk=6, window=2, last_chunk=5, heads=4, ...)
    """
    check_integer("max_past", max_past, least=0)
    check_integer("max_chunk", max_chunk, least=1)
    check_integer("max_groups", max_groups, least=1)
    check_integer("max_heads_per_group", max_heads_per_group, least=1)
    check_integer("head_width", head_width, least=1)
    if dtype not in ("float64", "float32"):
        raise InvalidArgument(f"dtype={dtype!r} must be 'float64' or 'float32'")
    drawn_windows = st.none() if windows is None else windows

    @st.composite
    def problems(draw: DrawFn) -> AttentionProblem:
        past = draw(st.integers(0, max_past))
        chunk = draw(st.integers(1, max_chunk))
        window = draw(drawn_windows)
        last_chunk = draw(st.integers(1, past)) if past else 0
        groups = draw(st.integers(1, max_groups))
        heads = groups * draw(st.integers(1, max_heads_per_group))
        rng = np.random.default_rng(draw(seeds(max_value=2**16)))
        sizes = (heads, groups, head_width)
        return new_problem(
            rng, past, chunk, last_chunk=last_chunk, window=window, sizes=sizes, dtype=dtype
        )

    return problems()


def new_problem(
    rng: np.random.Generator,
    past: int,
    chunk: int,
    *,
    last_chunk: int,
    window: int | None,
    sizes: tuple[int, int, int],
    dtype: str,
) -> AttentionProblem:
    """A problem of standard normal arrays; ``sizes`` are H, G and D."""
    heads, groups, width = sizes

    def normal(count: int, length: int) -> NDArray[np.floating]:
        return rng.normal(size=(count, length, width)).astype(dtype)

    query_positions = past + np.arange(chunk)  # (T,)
    key_positions = np.arange(past + chunk)  # (S,)
    return AttentionProblem(
        query=normal(heads, chunk),
        key=normal(groups, past + chunk),
        value=normal(groups, past + chunk),
        query_positions=query_positions,
        key_positions=key_positions,
        mask=offset_mask(query_positions, key_positions, window=window),
        window=window,
        past=past,
        last_chunk=last_chunk,
    )


def wrong_offset_masks(
    *,
    names: Collection[str] | None = None,
    problems: SearchStrategy[AttentionProblem] | None = None,
) -> SearchStrategy[WrongMaskProblem]:
    """Returns a strategy which generates attention problems with a deliberately wrong mask.

    * ``names`` are the mistakes to choose from, in order; by default all keys of
      `cachecheck.reference.WRONG_MASKS`.
    * ``problems`` is a strategy for the problem, by default `offset_masks` with windows of up to 8
      or none.

    A mask may come out right (a first chunk, a single token): ask ``differs``.

    Examples from this strategy shrink towards the first name and what ``problems`` shrinks towards.

    .. code-block:: pycon

        >>> wrong_offset_masks().example()
        WrongMaskProblem(problem=AttentionProblem(past=4, chunk=3, ...), name='query-restart', ...)
        >>> wrong_offset_masks().example()
        WrongMaskProblem(problem=AttentionProblem(past=2, chunk=5, ...), name='no-chunk-mask', ...)
        >>> wrong_offset_masks(names=["one-position"]).example()
        WrongMaskProblem(problem=AttentionProblem(past=9, chunk=2, ...), name='one-position', ...)
    """
    known = list(WRONG_MASKS)
    chosen = known if names is None else list(names)
    unknown = [name for name in chosen if name not in WRONG_MASKS]
    if unknown or not chosen:
        raise InvalidArgument(f"names={names!r} must be taken from {', '.join(known)}")
    if problems is None:
        problems = offset_masks(windows=st.none() | st.integers(1, 8))
    return st.builds(_spoil, problems, st.sampled_from(chosen))


def _spoil(problem: AttentionProblem, name: str) -> WrongMaskProblem:
    rule: Callable[..., NDArray[np.bool_]] = WRONG_MASKS[name].rule
    wrong = rule(
        problem.query_positions,
        problem.key_positions,
        window=problem.window,
        sinks=0,
        last_chunk=problem.last_chunk,
    )
    return WrongMaskProblem(problem, name, wrong)
