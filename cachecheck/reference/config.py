"""The configuration of a reference decoder; its defaults are the published experiment's model.

Axis letters, here and everywhere: B batch, T new tokens, S tokens so far, L layers, H query
heads, G key/value heads, D head width, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

import numpy as np

from cachecheck.errors import InputError

Positions = Literal["sinusoidal", "rotary", "alibi", "learned", "none"]
Output = Literal["hidden", "logits"]
Precision = Literal["float64", "float32"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """Shape and features of a reference decoder.

    Attributes:
        vocab_size: V, at least 2 (a law must be able to change a token).
        width: size of a hidden row; even when ``positions="sinusoidal"``.
        layers: L.
        heads: H query heads.
        key_value_heads: G, a divisor of H: H is multi-head, 1 multi-query, between them grouped.
        head_width: D; even when ``positions="rotary"``.
        positions: the kind of positions.
        window: a row sees at most this many latest positions, itself included; None for all.
        sinks: with a window, the first ``sinks`` positions stay visible for ever.
        mlp_width: hidden size of the MLP after attention; 0 for none.
        normalise: root-mean-square normalisation before attention and before the MLP.
        output: rows are hidden states (T, width) or logits (T, V).
        dtype: arithmetic of weights, cache and rows.
        max_length: longest sequence; required by ``positions="learned"``, else None for no bound.

    Raises:
        InputError: a field out of its range, naming the field.
    """

    vocab_size: int = 32
    width: int = 16
    layers: int = 2
    heads: int = 1
    key_value_heads: int = 1
    head_width: int = 16
    positions: Positions = "sinusoidal"
    window: int | None = None
    sinks: int = 0
    mlp_width: int = 0
    normalise: bool = False
    output: Output = "hidden"
    dtype: Precision = "float64"
    max_length: int | None = None

    def __post_init__(self) -> None:
        self._check_sizes()
        for name, allowed in (("positions", Positions), ("output", Output), ("dtype", Precision)):
            value = getattr(self, name)
            if value not in get_args(allowed):
                expected = ", ".join(get_args(allowed))
                raise InputError(f"Config.{name} must be one of {expected}; got {value!r}")
        if self.heads % self.key_value_heads:
            raise InputError(
                f"Config.key_value_heads must divide heads; got {self.key_value_heads} "
                f"for {self.heads} heads"
            )
        if self.positions == "sinusoidal" and self.width % 2:
            raise InputError(f"sinusoidal positions need an even width; got {self.width}")
        if self.positions == "rotary" and self.head_width % 2:
            raise InputError(f"rotary positions need an even head_width; got {self.head_width}")
        if self.positions == "learned" and self.max_length is None:
            raise InputError("learned positions need a max_length: the size of their table")
        if self.sinks and self.window is None:
            raise InputError("sinks mean something only with a window; set Config.window")

    def _check_sizes(self) -> None:
        lowest = {"vocab_size": 2, "sinks": 0, "mlp_width": 0}
        optional = ("window", "max_length")
        for field in fields(self):
            value: Any = getattr(self, field.name)
            if field.name in ("positions", "output", "dtype", "normalise"):
                continue
            if value is None and field.name in optional:
                continue
            least = lowest.get(field.name, 1)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
                raise InputError(
                    f"Config.{field.name} must be an integer >= {least}; got {value!r}"
                )
        if not isinstance(self.normalise, bool):
            raise InputError(f"Config.normalise must be True or False; got {self.normalise!r}")

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """``dtype`` as numpy's."""
        return np.dtype(self.dtype)

    @property
    def row_width(self) -> int:
        """Columns of an output row: width, or V for logits."""
        return self.vocab_size if self.output == "logits" else self.width


FROZEN = Config()
"""The published experiment's model: 2 layers, one head of width 16, sinusoidal, float64."""
