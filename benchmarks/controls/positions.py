"""Positions that are counted differently, with the same result."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.controls.control import Control, factory_of
from benchmarks.controls.own_pass import OwnPass
from cachecheck.reference import Config, LayerCache, Mechanisms, ReferenceDecoder, full
from cachecheck.reference.decoder import CopyingStorage
from cachecheck.reference.layers import project, score_bias
from cachecheck.reference.masks import Bools
from cachecheck.reference.mechanisms import CachedCall
from cachecheck.reference.positions import Ints, rotate
from cachecheck.reference.stored import StoredDecoder
from cachecheck.reference.weights import Floats, LayerWeights

_FAR = 100


class FartherByOne(Mechanisms):
    """ALiBi with every distance one larger."""

    def bias(self, call: CachedCall, keys: Ints) -> Floats | None:
        """(H, T, R)."""
        return score_bias(call.config, call.positions + 1, keys)


class FromLastKey(Mechanisms):
    """ALiBi measured from the last key of all, for every row."""

    def bias(self, call: CachedCall, keys: Ints) -> Floats | None:
        """(H, T, R)."""
        return score_bias(call.config, np.full(call.new, keys.max()), keys)


class FromOne(Mechanisms):
    """Rotary positions that begin with 1."""

    def inputs(self, call: CachedCall, layer: int) -> Ints:  # noqa: ARG002
        """(T,)."""
        return call.positions + 1


class FarOff(Mechanisms):
    """Rotary positions that begin far from zero."""

    def inputs(self, call: CachedCall, layer: int) -> Ints:  # noqa: ARG002
        """(T,)."""
        return call.positions + _FAR


class WithMechanisms(StoredDecoder[Any]):
    """The plain cache with other mechanisms, which every subclass names."""

    kind: type[Mechanisms]

    def __init__(self, config: Config, *, seed: int) -> None:
        super().__init__(config, CopyingStorage, seed=seed, mechanisms=self.kind())


class AlibiFartherByOne(WithMechanisms):
    """Distances of the cached pass are one larger."""

    kind = FartherByOne


class AlibiFromLastKey(WithMechanisms):
    """Distances of the cached pass are those of its last row."""

    kind = FromLastKey


class RotaryFromOne(WithMechanisms):
    """The cached pass counts from 1, the full pass from 0."""

    kind = FromOne


class RotaryFarOff(WithMechanisms):
    """Both passes count from far off."""

    kind = FarOff

    def full(self, tokens: Any) -> Floats:
        """(T,) integers -> (T, width) or (T, V)."""
        return full(self.weights, tokens, positions=_FAR + np.arange(len(tokens))).rows


class RotatedOnRead(OwnPass):
    """The cache holds keys without rotation; all of them are rotated at every call."""

    def project(
        self, x: Floats, layer: LayerWeights, positions: Ints
    ) -> tuple[Floats, Floats, Floats]:
        """Rotated query (H, T, D), key and value (G, T, D) as they are."""
        plain = replace(self.config, positions="none")
        query, key, value = project(x, layer, plain, positions, self._work)
        return rotate(query, positions), key, value

    def attend(self, query: Floats, visible: LayerCache, positions: Ints, mask: Bools) -> Floats:
        """The mixed values (H, T, D)."""
        turned = LayerCache(
            rotate(visible.key, visible.positions), visible.value, visible.positions
        )
        return super().attend(query, turned, positions, mask)


_FOUR_HEADS = {"heads": 4, "key_value_heads": 2}  # one slope each

POSITIONS = (
    Control(
        "alibi-farther-by-one",
        "ALiBi distances of the cached pass are one larger than those of the full pass.",
        "What is added to all scores of a row cancels in its softmax.",
        factory_of(AlibiFartherByOne, positions="alibi", **_FOUR_HEADS),
    ),
    Control(
        "alibi-from-last-key",
        "ALiBi penalises every row of a chunk as if it were the last.",
        "Rows differ by a constant from their own distances, which cancels in the softmax.",
        factory_of(AlibiFromLastKey, positions="alibi", **_FOUR_HEADS),
    ),
    Control(
        "rotary-from-one",
        "Positions begin with 1 in the cached pass and with 0 in the full pass.",
        "Rotary scores depend on differences of positions alone.",
        factory_of(RotaryFromOne, positions="rotary"),
    ),
    Control(
        "rotary-far-off",
        "The first token stands at position 100, as if pads had been counted.",
        "Both passes count alike, and rotary scores depend on differences alone.",
        factory_of(RotaryFarOff, positions="rotary", sinks=0, max_length=None),
    ),
    Control(
        "rotated-on-read",
        "Keys go into the cache without their positions.",
        "They are rotated whenever they are read, by the positions kept beside them.",
        factory_of(RotatedOnRead, positions="rotary"),
    ),
    Control(
        "no-positions",
        "Exchanging two cached tokens changes nothing, as if positions were ignored.",
        "The decoder has no positions at all, and its full pass does the same.",
        factory_of(ReferenceDecoder, positions="none", layers=1),
    ),
    Control(
        "learned-positions",
        "Positions end: past the table a call raises.",
        "The end is declared as max_length, and an error is due past it.",
        factory_of(ReferenceDecoder, positions="learned", max_length=24),
    ),
)
