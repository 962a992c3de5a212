"""Mechanisms of a cached pass beside its arithmetic: positions, masks, stored and visible keys.

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
    """The keys and values that the rows of a chunk attend over: the past and the chunk itself."""

    @property
    def key(self) -> Floats: ...  # noqa: D102 - (G, R, D)
    @property
    def value(self) -> Floats: ...  # noqa: D102 - (G, R, D)
    @property
    def positions(self) -> Ints: ...  # noqa: D102 - (R,) absolute, increasing


@dataclass(frozen=True)
class CachedCall:
    """One call of the cached pass: its decoder, past and chunk, for the mechanisms.

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
    def positions(self) -> Ints:
        """(T,) the positions of the new tokens."""
        return self.past + np.arange(self.new)


class Mechanisms:
    """The right mechanisms; a fault overrides one of the methods. ``layer`` counts from 0.

    Args:
        mask_rule: a wrong one, where a wrong mask is all that is wanted.
        input_positions: (T,) of one call, for the inputs alone, where wrong ones are wanted.
    """

    def __init__(self, mask_rule: MaskRule = offset_mask, input_positions: Any = None) -> None:
        self.mask_rule = mask_rule
        self.input_positions = input_positions

    def inputs(self, call: CachedCall, layer: int) -> Ints:  # noqa: ARG002 - some faults ask which layer
        """(T,) positions that inputs are embedded by, and queries and keys rotated by."""
        return call.positions if self.input_positions is None else self.input_positions

    def mask(self, call: CachedCall, layer: int, keys: Ints) -> Bools:  # noqa: ARG002
        """The mask over keys at positions (R,): (T, R), or (H, T, R); True where visible."""
        return self.mask_rule(
            call.positions,
            keys,
            window=call.config.window,
            sinks=call.config.sinks,
            last_chunk=call.last_chunk,
        )

    def bias(self, call: CachedCall, keys: Ints) -> Floats | None:
        """The bias that positions add to the scores: (H, T, R), or None."""
        return score_bias(call.config, call.positions, keys)

    def stored(
        self,
        call: CachedCall,  # noqa: ARG002
        layer: int,  # noqa: ARG002
        key: Floats,
        value: Floats,
    ) -> tuple[Floats, Floats]:
        """The chunk's keys and values (G, T, D) as they go into the cache."""
        return key, value

    def visible_keys(self, call: CachedCall, layer: int, keys: VisibleKeys) -> VisibleKeys:  # noqa: ARG002
        """The keys and values that the rows attend over, from those that the cache gives back."""
        return keys


RIGHT = Mechanisms()
