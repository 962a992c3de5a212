"""What a cached pass does beside arithmetic: who stands where, who sees whom, what is stored.

`extend` asks a `Mechanisms` for each of these, so that a deliberate fault can replace one and
leave all the others as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from cachecheck.reference.config import Config
from cachecheck.reference.layers import score_bias
from cachecheck.reference.masks import Bools, MaskRule, offset_mask
from cachecheck.reference.positions import Ints
from cachecheck.reference.weights import Floats


class VisibleKeys(Protocol):
    """What the rows of a chunk attend over: the past and the chunk itself."""

    @property
    def key(self) -> Floats: ...  # noqa: D102 - (G, R, D)
    @property
    def value(self) -> Floats: ...  # noqa: D102 - (G, R, D)
    @property
    def positions(self) -> Ints: ...  # noqa: D102 - (R,) absolute, increasing


@dataclass(frozen=True)
class Call:
    """One call, as the mechanisms see it.

    Attributes:
        config: of the decoder.
        past: S, tokens before it.
        new: T, its own.
        last_chunk: tokens of the call before; only a wrong mask looks at it.
    """

    config: Config
    past: int
    new: int
    last_chunk: int

    @cached_property
    def places(self) -> Ints:
        """(T,) the positions of the new tokens."""
        return self.past + np.arange(self.new)


class Mechanisms:
    """The right ones. ``layer`` counts from 0.

    Args:
        mask_rule: who sees whom, where a wrong mask is all that is wanted.
        input_positions: (T,) of one call, for the inputs alone, where a wrong position is.
    """

    def __init__(self, mask_rule: MaskRule = offset_mask, input_positions: Any = None) -> None:
        self.mask_rule = mask_rule
        self.input_positions = input_positions

    def inputs(self, call: Call, layer: int) -> Ints:  # noqa: ARG002 - some faults ask which layer
        """(T,) positions by which inputs are embedded, and queries and keys rotated."""
        return call.places if self.input_positions is None else self.input_positions

    def mask(self, call: Call, layer: int, keys: Ints) -> Bools:  # noqa: ARG002
        """Which of the keys at positions (R,) each row sees: (T, R), or (H, T, R) head by head."""
        return self.mask_rule(
            call.places,
            keys,
            window=call.config.window,
            sinks=call.config.sinks,
            last_chunk=call.last_chunk,
        )

    def bias(self, call: Call, keys: Ints) -> Floats | None:
        """What positions add to the scores: (H, T, R), or None."""
        return score_bias(call.config, call.places, keys)

    def stored(
        self,
        call: Call,  # noqa: ARG002
        layer: int,  # noqa: ARG002
        key: Floats,
        value: Floats,
    ) -> tuple[Floats, Floats]:
        """The chunk's keys and values (G, T, D) as they go into the cache."""
        return key, value

    def seen(self, call: Call, layer: int, seen: VisibleKeys) -> VisibleKeys:  # noqa: ARG002
        """What the rows attend over, of what the cache gives back."""
        return seen


RIGHT = Mechanisms()
