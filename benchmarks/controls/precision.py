"""Fewer digits than it seems, and rounding that grows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.controls.control import Control, in_float32
from benchmarks.controls.numbers import Dressed, reweighted
from benchmarks.controls.own_pass import BothWays
from cachecheck.reference import Config
from cachecheck.reference.decoder import CopyingStorage
from cachecheck.reference.layers import normalise
from cachecheck.reference.positions import Ints
from cachecheck.reference.weights import Floats, LayerWeights


class Undeclared(Dressed):
    """float32 underneath, float64 to look at, and no word about it."""

    def __init__(self, config: Config, *, seed: int) -> None:
        super().__init__(config, seed=seed)
        self.dtype = None  # type: ignore[assignment]  # as a decoder that does not say


class Widened(Undeclared):
    """Rows are converted in the end."""

    def dress(self, rows: Floats) -> Floats:
        """(T, width)."""
        return rows.astype(np.float64)


class FinishedWide(Undeclared):
    """Rows are brought to a length of one in float64, so that no bits give them away."""

    def dress(self, rows: Floats) -> Floats:
        """(T, width)."""
        wide = rows.astype(np.float64)
        return np.asarray(wide / np.linalg.norm(wide, axis=1, keepdims=True))


class Deep(BothWays):
    """Residual layers without any squashing, which pass rounding on to the end."""

    def finish(self, x: Floats, mixed: Floats, layer: LayerWeights) -> Floats:
        """(T, width)."""
        update = mixed.transpose(1, 0, 2).reshape(len(x), -1)  # (T, H*D)
        x = x + (update if layer.output is None else update @ layer.output)  # (T, width)
        if layer.mlp_in is None or layer.mlp_out is None:
            return x
        inner = np.tanh(normalise(x, self.config) @ layer.mlp_in)  # (T, mlp_width)
        return np.asarray(x + inner @ layer.mlp_out)  # (T, width)

    def as_float64(self) -> Deep:
        """The same in float64."""
        return Deep(replace(self.config, dtype="float64"), seed=self.seed)


class Narrow(BothWays):
    """16 bits: weights, queries, keys, values, what is passed between layers, and rows."""

    name = "float16"

    def __init__(self, config: Config, *, seed: int) -> None:
        super().__init__(config, seed=seed)
        self.dtype = self.name  # type: ignore[assignment]  # Config has no 16 bits
        self.short = self.short_type()
        self.weights = reweighted(self.weights, lambda _, array: self.narrow(array))
        self.storage = CopyingStorage(self.weights)

    def short_type(self) -> Any:
        """The name that numpy has for them."""
        return np.float16

    def narrow(self, array: Floats) -> Floats:
        """Rounded to 16 bits, in float32 to go on with."""
        return array.astype(self.short).astype(np.float32)

    def project(
        self, x: Floats, layer: LayerWeights, positions: Ints
    ) -> tuple[Floats, Floats, Floats]:
        """Query (H, T, D), key and value (G, T, D)."""
        query, key, value = super().project(x, layer, positions)
        return self.narrow(query), self.narrow(key), self.narrow(value)

    def finish(self, x: Floats, mixed: Floats, layer: LayerWeights) -> Floats:
        """(T, width)."""
        return self.narrow(super().finish(x, self.narrow(mixed), layer))

    def read_out(self, x: Floats) -> Floats:
        """(T, width) or (T, V)."""
        return self.narrow(super().read_out(x))


class Brain(Narrow):
    """bfloat16: as many exponents as float32, and 8 bits of precision."""

    name = "bfloat16"

    def short_type(self) -> Any:
        """That of a package which is not everybody's."""
        import ml_dtypes  # noqa: PLC0415 - an extra

        return ml_dtypes.bfloat16


_DEEP = {"layers": 24, "normalise": True, "output": "hidden"}

PRECISION = (
    Control(
        "widened-rows",
        "Rows in float64 differ by a million times their rounding.",
        "They were computed in float32, as their bits show.",
        in_float32(Widened),
        fixed_dtype="float32",
    ),
    Control(
        "finished-in-float64",
        "Rows in float64 differ by a million times their rounding, and bits show no reason.",
        "They were computed in float32 and normalised in float64.",
        in_float32(FinishedWide),
        fixed_dtype="float32",
    ),
    Control(
        "deep-residual",
        "Rows of the two passes part further with every layer.",
        "Twenty-four residual layers pass on the rounding of float32; float64 shows it.",
        in_float32(Deep, **_DEEP),
        fixed_dtype="float32",
    ),
    Control(
        "half-precision",
        "Rows differ in the third decimal.",
        "That is what 11 bits of precision are.",
        in_float32(Narrow),
        fixed_dtype="float16",
    ),
    Control(
        "brain-float",
        "Rows differ in the second decimal.",
        "That is what 8 bits of precision are.",
        in_float32(Brain),
        fixed_dtype="bfloat16",
    ),
)
