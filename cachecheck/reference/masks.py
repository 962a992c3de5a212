"""Masks: the offset mask, by which a query row sees the right keys, and common wrong ones.

Absolute positions decide, never indices into a chunk or a buffer. That is the whole lesson of
the wrong masks below: each takes one such short cut.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cachecheck.errors import InputError
from cachecheck.reference.checks import as_integers, check_consecutive
from cachecheck.reference.positions import Ints

Bools = NDArray[np.bool_]


class MaskRule(Protocol):
    """A function with the signature of `offset_mask`.

    ``last_chunk`` is the length of the call before this one (0 for the first): no right rule
    needs it, one of the wrong ones uses it.
    """

    def __call__(  # noqa: D102
        self,
        query_positions: Ints,
        key_positions: Ints,
        *,
        window: int | None,
        sinks: int,
        last_chunk: int,
    ) -> Bools: ...


def allowed(query: Ints, key: Ints, window: int | None, sinks: int) -> Bools:
    """The rule itself, unchecked: (T,) and (S,) positions -> (T, S), True where visible."""
    q, k = query[:, None], key[None, :]  # (T, 1), (1, S)
    visible = k <= q  # (T, S)
    if window is not None:
        visible &= (k > q - window) | (k < sinks)
    return visible


def offset_mask(
    query_positions: Any,
    key_positions: Any,
    *,
    window: int | None = None,
    sinks: int = 0,
    last_chunk: int = 0,  # noqa: ARG001 - the signature of MaskRule
) -> Bools:
    """The causal mask of new rows over cached and new keys.

    Args:
        query_positions: (T,) absolute positions of the new rows, consecutive.
        key_positions: (S,) absolute positions of the keys, increasing (sinks leave a gap).
        window: a row sees the latest ``window`` positions up to its own; None for all.
        sinks: with a window, positions below this stay visible.
        last_chunk: ignored, see `MaskRule`.

    Returns:
        (T, S) booleans, True where the row may see the key.

    Raises:
        InputError: window < 1, sinks < 0, positions with gaps, or keys out of order.
    """
    query = check_consecutive(query_positions, "query positions")
    key = as_integers(key_positions, "key positions")
    if window is not None and window < 1:
        raise InputError(f"a window must be at least 1 (the row itself); got {window}")
    if sinks < 0:
        raise InputError(f"sinks must be >= 0; got {sinks}")
    if key[0] < 0 or np.any(np.diff(key) <= 0):
        raise InputError("key positions must be >= 0 and strictly increasing")
    return allowed(query, key, window, sinks)


def check_rows_see_something(mask: Bools) -> None:
    """A softmax over nothing is NaN, so a row without any key is refused.

    Raises:
        InputError: naming the first row of the (T, S) or (H, T, S) mask that allows no key.
    """
    blind = np.argwhere(~mask.any(axis=-1))
    if blind.size:
        raise InputError(
            f"query row {blind[0][-1]} has no allowed key among {mask.shape[-1]}: its softmax "
            "would be NaN; check the mask's offset and window"
        )


@dataclass(frozen=True)
class WrongMask:
    """A deliberate mistake in the mask, and nowhere else."""

    name: str
    symptom: str
    rule: MaskRule


def _renumbered(number: Callable[[Ints, int], Ints]) -> MaskRule:
    """The right rule applied to wrongly numbered query rows; ``number(query, last_chunk)``."""

    def rule(
        query_positions: Ints,
        key_positions: Ints,
        *,
        window: int | None,
        sinks: int,
        last_chunk: int,
    ) -> Bools:
        return allowed(number(query_positions, last_chunk), key_positions, window, sinks)

    return rule


def _no_chunk_mask(
    query_positions: Ints,
    key_positions: Ints,
    *,
    window: int | None,
    sinks: int,
    last_chunk: int,  # noqa: ARG001
) -> Bools:
    own = allowed(query_positions, key_positions, window, sinks)
    chunk = key_positions >= query_positions[0]  # (S,), the chunk's own keys
    return np.asarray(own | chunk)  # (T, S)


def _window_from_last_row(
    query_positions: Ints,
    key_positions: Ints,
    *,
    window: int | None,
    sinks: int,
    last_chunk: int,  # noqa: ARG001
) -> Bools:
    causal = allowed(query_positions, key_positions, None, 0)
    last = np.full_like(query_positions, query_positions[-1])
    return causal & allowed(last, key_positions, window, sinks)


_WRONG = (
    WrongMask(
        "query-restart",
        "query rows numbered from 0 in every chunk: the offset is forgotten",
        _renumbered(lambda query, _: np.arange(len(query))),
    ),
    WrongMask(
        "offset-too-small",
        "the offset is one too small once there is history: a row does not see itself",
        _renumbered(lambda query, _: query - 1 if query[0] > 0 else query),
    ),
    WrongMask(
        "offset-too-large",
        "the offset is one too large: a row sees the token after it",
        _renumbered(lambda query, _: query + 1),
    ),
    WrongMask(
        "no-chunk-mask",
        "no mask inside the chunk: its rows see each other both ways",
        _no_chunk_mask,
    ),
    WrongMask(
        "one-position",
        "the chunk's first position is used for all of its rows",
        _renumbered(lambda query, _: np.full_like(query, query[0])),
    ),
    WrongMask(
        "last-chunk-offset",
        "the offset is the size of the last chunk instead of all that came before",
        _renumbered(lambda query, last_chunk: last_chunk + np.arange(len(query))),
    ),
    WrongMask(
        "window-from-last-row",
        "the window is measured from the chunk's last row for all of its rows",
        _window_from_last_row,
    ),
)

WRONG_MASKS: Mapping[str, WrongMask] = MappingProxyType({wrong.name: wrong for wrong in _WRONG})
"""The deliberately wrong masks, by name."""
