"""Rows with fewer digits than their dtype, and rounding that grows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.controls.control import Control, float32_factory_of
from benchmarks.controls.numbers import ChangedRows, reweighted
from benchmarks.controls.own_pass import BothWays
from cachecheck.reference import Config
from cachecheck.reference.decoder import CopyingStorage
from cachecheck.reference.layers import normalise
from cachecheck.reference.positions import Ints
from cachecheck.reference.weights import Floats, LayerWeights


class Undeclared(ChangedRows):
    """Computes in float32, returns float64, and declares nothing."""

    def __init__(self, config: Config, *, seed: int) -> None:
        super().__init__(config, seed=seed)
        self.dtype = None  # type: ignore[assignment]  # as a decoder that does not say


class Widened(Undeclared):
    """Rows are converted in the end."""

    def change_rows(self, rows: Floats) -> Floats:
        """(T, width)."""
        return rows.astype(np.float64)


class FinishedWide(Undeclared):
    """Rows are brought to a length of one in float64, so that no bits give them away."""

    def change_rows(self, rows: Floats) -> Floats:
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


class HalfPrecision(BothWays):
    """16 bits: weights, queries, keys, values, rows, and the inputs of every layer."""

    name = "float16"

    def __init__(self, config: Config, *, seed: int) -> None:
        super().__init__(config, seed=seed)
        self.dtype = self.name  # type: ignore[assignment]  # Config has no 16 bits
        self.short = self.short_type()
        self.weights = reweighted(self.weights, lambda _, array: self.rounded(array))
        self.storage = CopyingStorage(self.weights)

    def short_type(self) -> Any:
        """The numpy type of 16 bits."""
        return np.float16

    def rounded(self, array: Floats) -> Floats:
        """``array`` rounded to 16 bits, and converted back to float32."""
        return array.astype(self.short).astype(np.float32)

    def project(
        self, x: Floats, layer: LayerWeights, positions: Ints
    ) -> tuple[Floats, Floats, Floats]:
        """Query (H, T, D), key and value (G, T, D)."""
        query, key, value = super().project(x, layer, positions)
        return self.rounded(query), self.rounded(key), self.rounded(value)

    def finish(self, x: Floats, mixed: Floats, layer: LayerWeights) -> Floats:
        """(T, width)."""
        return self.rounded(super().finish(x, self.rounded(mixed), layer))

    def read_out(self, x: Floats) -> Floats:
        """(T, width) or (T, V)."""
        return self.rounded(super().read_out(x))


class BFloat16(HalfPrecision):
    """bfloat16: as many exponents as float32, and 8 bits of precision."""

    name = "bfloat16"

    def short_type(self) -> Any:
        """The type of an optional package."""
        import ml_dtypes  # noqa: PLC0415 - an extra

        return ml_dtypes.bfloat16


_DEEP = {"layers": 24, "normalise": True, "output": "hidden"}

PRECISION = (
    Control(
        "widened-rows",
        "Rows in float64 differ by a million times their rounding.",
        "They were computed in float32, as their bits show.",
        float32_factory_of(Widened),
        fixed_dtype="float32",
    ),
    Control(
        "finished-in-float64",
        "Rows in float64 differ by a million times their rounding, and bits show no reason.",
        "They were computed in float32 and normalised in float64.",
        float32_factory_of(FinishedWide),
        fixed_dtype="float32",
    ),
    Control(
        "deep-residual",
        "Rows of the two passes differ more with every layer.",
        "Twenty-four residual layers pass on the rounding of float32; float64 shows it.",
        float32_factory_of(Deep, **_DEEP),
        fixed_dtype="float32",
    ),
    Control(
        "half-precision",
        "Rows differ in the third decimal.",
        "That is what 11 bits of precision are.",
        float32_factory_of(HalfPrecision),
        fixed_dtype="float16",
    ),
    Control(
        "brain-float",
        "Rows differ in the second decimal.",
        "That is what 8 bits of precision are.",
        float32_factory_of(BFloat16),
        fixed_dtype="bfloat16",
    ),
)
