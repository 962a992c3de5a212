"""Unusual numbers: saturated or tiny, and columns that are huge, dead or far from zero."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.controls.control import Control, factory_of
from cachecheck.reference import Cache, Config, ReferenceDecoder, Weights
from cachecheck.reference.decoder import CopyingStorage
from cachecheck.reference.weights import Floats, LayerWeights


def reweighted(weights: Weights, change: Callable[[str, Floats], Floats]) -> Weights:
    """``weights`` with each matrix changed; ``change`` gets its name and the matrix."""

    def changed(name: str, array: Floats | None) -> Any:
        return None if array is None else change(name, array)

    layers = tuple(
        LayerWeights(**{name: changed(name, array) for name, array in vars(layer).items()})
        for layer in weights.layers
    )
    return replace(
        weights,
        embedding=change("embedding", weights.embedding),
        layers=layers,
        positions=changed("positions", weights.positions),
        head=changed("head", weights.head),
        fingerprint=f"{weights.fingerprint}, changed",
    )


class Reweighted(ReferenceDecoder):
    """The reference with other weights."""

    def __init__(self, config: Config, *, seed: int) -> None:
        super().__init__(config, seed=seed)
        self.weights = reweighted(self.weights, self.change)
        self.storage = CopyingStorage(self.weights)

    def change(self, name: str, array: Floats) -> Floats:
        """The matrix to use instead."""
        raise NotImplementedError


class SharpAttention(Reweighted):
    """Queries and keys eight times as large: attention to one key or two."""

    def change(self, name: str, array: Floats) -> Floats:
        """Eight times as large."""
        return array * 8 if name in ("query", "key") else array


class TinyWeights(Reweighted):
    """All weights with the standard deviation of 0.02 that training starts with."""

    def change(self, name: str, array: Floats) -> Floats:  # noqa: ARG002
        """As small as that."""
        return np.asarray(array * (array.dtype.type(0.02) / array.std()))


class ChangedRows(ReferenceDecoder):
    """A reference decoder that changes the rows of both passes before it returns them."""

    def full(self, tokens: Any) -> Floats:
        """(T,) integers -> (T, width) or (T, V)."""
        return self.change_rows(super().full(tokens))

    def extend(self, tokens: Any, cache: Cache) -> tuple[Floats, Cache]:
        """The chunk's rows and the cache that holds it too."""
        rows, after = super().extend(tokens, cache)
        return self.change_rows(rows), after

    def change_rows(self, rows: Floats) -> Floats:
        """The rows to hand out."""
        raise NotImplementedError


class HugeColumn(ChangedRows):
    """The last column is -1e9 throughout, as of a vocabulary that was padded."""

    def change_rows(self, rows: Floats) -> Floats:
        """(T, width)."""
        return np.where(np.arange(rows.shape[1]) == rows.shape[1] - 1, rows.dtype.type(-1e9), rows)


class OneLiveColumn(ChangedRows):
    """All columns but the first are zero."""

    def change_rows(self, rows: Floats) -> Floats:
        """(T, width)."""
        return np.where(np.arange(rows.shape[1]) == 0, rows, rows.dtype.type(0))


class ShiftedRows(ChangedRows):
    """All columns stand a hundred higher."""

    def change_rows(self, rows: Floats) -> Floats:
        """(T, width)."""
        return rows + rows.dtype.type(100)


_MANY_COLUMNS = {"width": 16, "output": "hidden"}
_MULTI_QUERY = {"heads": 4, "key_value_heads": 1, "head_width": 4}

NUMBERS = (
    Control(
        "sharp-attention",
        "Changing a cached token hardly ever changes a row.",
        "Attention is saturated: most keys have nearly no weight.",
        factory_of(SharpAttention),
    ),
    Control(
        "tiny-weights",
        "Later rows hardly depend on cached tokens.",
        "The weights are as small as before training, and the rows depend on them all the same.",
        factory_of(TinyWeights),
    ),
    Control(
        "one-huge-column",
        "A column is a billion times as large as the others.",
        "It is padding of the vocabulary, and the same in every row.",
        factory_of(HugeColumn, **_MANY_COLUMNS),
    ),
    Control(
        "one-live-column",
        "All but one of the columns are zero.",
        "The full pass has the same zeros.",
        factory_of(OneLiveColumn, **_MANY_COLUMNS),
    ),
    Control(
        "rows-far-from-zero",
        "All rows look alike: 100, and a little more or less.",
        "The differences between rows are there, and depend on the tokens.",
        factory_of(ShiftedRows),
    ),
    Control(
        "multi-query",
        "The cache holds a quarter of the keys that its four heads need.",
        "All four heads read the same keys, in the full pass as well.",
        factory_of(ReferenceDecoder, **_MULTI_QUERY),
    ),
)
