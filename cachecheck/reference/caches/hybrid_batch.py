"""A batch of a hybrid decoder: one cache a row, so that no row can reach another's state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from cachecheck.errors import InputError
from cachecheck.reference.caches.hybrid_cache import (
    HybridCache,
    check_hybrid_cache,
    new_hybrid_cache,
)
from cachecheck.reference.caches.hybrid_weights import HybridWeights
from cachecheck.reference.checks import as_integers


@dataclass(frozen=True, eq=False)
class HybridBatch:
    """A hybrid decoder's memory of B sequences, which may differ in length."""

    rows: tuple[HybridCache, ...]

    def state(self) -> list[Mapping[str, NDArray[Any]]]:
        """Per layer, the named arrays of every row, its number in front."""
        layers = zip(*(row.state() for row in self.rows), strict=True)
        return [
            {
                f"{number}.{name}": array
                for number, one in enumerate(layer)
                for name, array in one.items()
            }
            for layer in layers
        ]

    def chosen(self, rows: Any) -> HybridBatch:
        """The batch whose row i is row ``rows[i]``; rows may repeat or be left out.

        Raises:
            InputError: no rows, not integers, or a row that the batch has not.
        """
        wanted, count = as_integers(rows, "rows"), len(self.rows)
        outside = wanted[(wanted < 0) | (wanted >= count)]
        if outside.size:
            raise InputError(
                f"row {outside[0]} is outside the batch of {count} (expected 0 to {count - 1})"
            )
        return HybridBatch(tuple(self.rows[row] for row in wanted))


def new_hybrid_batch(weights: HybridWeights, rows: Any) -> HybridBatch:
    """The cache of ``rows`` sequences without any token.

    Raises:
        InputError: ``rows`` is not an integer >= 1.
    """
    (count,) = as_integers([rows], "a batch's number of rows")
    if count < 1:
        raise InputError(f"a batch has at least one row; got {rows!r}")
    return HybridBatch((new_hybrid_cache(weights),) * int(count))


def check_hybrid_batch(batch: Any, weights: HybridWeights) -> HybridBatch:
    """``batch`` if these weights made it.

    Raises:
        InputError: not a batch, or made by other weights.
    """
    if not isinstance(batch, HybridBatch):
        raise InputError(f"expected a HybridBatch; got {type(batch).__name__}")
    for row in batch.rows:
        check_hybrid_cache(row, weights)
    return batch


def check_row_count(tokens: Sequence[Any], rows: int) -> None:
    """Refuse anything but one chunk a row.

    Raises:
        InputError: another number of chunks.
    """
    if len(tokens) != rows:
        raise InputError(f"expected tokens for {rows} rows; got {len(tokens)} rows")
