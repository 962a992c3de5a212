"""Decoders by number, for tests of what all faces say of them: right, wrong, and in between.

``tests.drawn_decoders:d17`` is the target of number 17. Rows are an embedding and a share of the
sum of those before it; what is wrong, how much is rounded where, and what is promised is drawn.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

SIZE = 12


@dataclass(frozen=True)
class Recipe:
    """What one decoder is like.

    Attributes:
        dtype: of its rows; an empty name: float64, undeclared.
        share: of what came before in a row.
        rounding: relative, of cached rows with a history.
        full_rounding: relative, of the full pass.
        loses: share of the history that calls lose; the mistake.
        since: length of the history from which they do.
        twin: whether it can be run in float64.
        twin_rounding: relative, of the twin's cached rows.
        atol: promised, or None.
        constant: whether all rows are zero.
    """

    dtype: str
    share: float
    rounding: float
    full_rounding: float
    loses: float
    since: int
    twin: bool
    twin_rounding: float
    atol: float | None
    constant: bool


ROUNDING_LIMITED = Recipe("float32", 0.3, 8e-3, 8e-3, 0.0, 1, True, 0.0, None, False)
"""Its full pass is off by 0.8% of float64, and the cached rows are off from it by no more."""


def recipe(number: int) -> Recipe:
    """The recipe of a number; 0 is the one that is limited by rounding."""
    if number == 0:
        return ROUNDING_LIMITED
    rng = random.Random(number)  # noqa: S311 - nothing secret about it
    wrong = rng.random() < 0.4
    return Recipe(
        dtype=rng.choice(["float64", "float32", "float32", ""]),
        share=rng.choice([0.3, 0.3, 1e-3, 1e-6]),
        rounding=rng.choice([0.0, 0.0, 1e-9, 1e-6, 2e-5, 2e-4, 5e-3]),
        full_rounding=rng.choice([0.0, 0.0, 0.0, 1e-4, 8e-3]),
        loses=rng.choice([1.0, 0.5, 0.01]) if wrong else 0.0,
        since=rng.choice([1, 1, 2, 3]),
        twin=rng.random() < 0.5,
        twin_rounding=rng.choice([0.0, 0.0, 0.0, 2e-4]),
        atol=rng.choice([None, None, None, 1e-6, 1e-2, 4.0]),
        constant=rng.random() < 0.05,
    )


class Drawn:
    """The decoder of a recipe; a cache is the sum so far, and how many tokens it is of."""

    vocab_size = SIZE

    def __init__(self, recipe: Recipe, seed: int, *, exact: bool = False) -> None:
        self.recipe, self.seed, self.exact = recipe, seed, exact
        if recipe.dtype or exact:
            self.dtype = "float64" if exact else recipe.dtype
        if recipe.atol is not None:
            self.atol = recipe.atol
        if recipe.twin and recipe.dtype == "float32" and not exact:
            self.as_float64: Callable[[], Any] = self._as_float64
        self.embedding = np.random.default_rng(seed).normal(size=(SIZE, 4))

    def _as_float64(self) -> Drawn:
        own = replace(self.recipe, rounding=self.recipe.twin_rounding, full_rounding=0.0)
        return Drawn(own, self.seed, exact=True)

    def new_cache(self) -> Any:
        return np.zeros(4), 0

    def full(self, tokens: Any) -> Any:
        own = self.embedding[tokens]
        rows = own + self.recipe.share * (np.cumsum(own, axis=0) - own)
        return self._cast(rows * (1 + self.recipe.full_rounding * np.cos(np.arange(4))))

    def extend(self, tokens: Any, cache: Any) -> Any:
        past, count = cache
        own = self.embedding[tokens]
        wrong = self.recipe.loses * (count >= self.recipe.since)
        before = past * (1 - wrong) + np.cumsum(own, axis=0) - own
        rows = own + self.recipe.share * before
        rows = rows * (1 + self.recipe.rounding * (count > 0))
        rows = rows * (1 + self.recipe.full_rounding * np.cos(np.arange(4)))
        return self._cast(rows), (past + own.sum(axis=0), count + len(tokens))

    def _cast(self, rows: Any) -> Any:
        rows = rows * (not self.recipe.constant)
        short = self.recipe.dtype == "float32" and not self.exact
        return rows.astype(np.float32) if short else rows


def make(number: int) -> Callable[[int], Drawn]:
    """The factory of a number."""

    def factory(seed: int) -> Drawn:
        return Drawn(recipe(number), seed)

    return factory


def __getattr__(name: str) -> Any:
    if not name.startswith("d") or not name[1:].isdecimal():
        raise AttributeError(name)
    return make(int(name[1:]))
