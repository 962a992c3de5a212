"""Faults of whole passes: the uncached one is wrong, or state is kept outside the cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from cachecheck.faults.configurations import (
    ConfigChanges,
    changed_config,
    copying_fault,
    no_window,
    with_input_positions,
    with_window,
)
from cachecheck.faults.fault import Fault
from cachecheck.reference.cache import Cache
from cachecheck.reference.config import Config, Precision
from cachecheck.reference.decoder import CopyingStorage
from cachecheck.reference.extend import extend
from cachecheck.reference.full import full
from cachecheck.reference.masks import Bools
from cachecheck.reference.mechanisms import RIGHT, CachedCall, Mechanisms
from cachecheck.reference.positions import Ints
from cachecheck.reference.stored import StoredDecoder
from cachecheck.reference.weights import Floats


class PlainDecoder(StoredDecoder[Cache]):
    """The plain reference decoder, one of whose passes is replaced below."""

    def __init__(self, config: Config, seed: int, mechanisms: Mechanisms = RIGHT) -> None:
        super().__init__(config, CopyingStorage, seed=seed, mechanisms=mechanisms)

    def in_one_call(self, tokens: Any) -> Floats:
        """The full pass as one call of the cached pass, onto nothing."""
        trace, _ = extend(self.weights, tokens, self.new_cache(), mechanisms=self.mechanisms)
        return trace.rows


class Acausal(PlainDecoder):
    """Makes its mask where it makes a cache; without one there is neither."""

    def full(self, tokens: Any) -> Floats:
        """Every row sees every token."""
        return full(self.weights, tokens, causal=False).rows


class Unwindowed(PlainDecoder):
    """Applies the window only where there is a cache."""

    def full(self, tokens: Any) -> Floats:
        """The window is left out."""
        everything = replace(self.weights.config, window=None, sinks=0)
        return full(replace(self.weights, config=everything), tokens).rows


class Stretched(Mechanisms):
    """Places follow the length: short sequences are spread out, as a dynamic base would."""

    def inputs(self, call: CachedCall, layer: int) -> Ints:  # noqa: ARG002
        """Twice the position until four tokens are there."""
        return call.positions * (2 if call.past + call.new <= 4 else 1)


class MixedBase(PlainDecoder):
    """Cached keys stay as the length was when they were written."""

    def __init__(self, config: Config, seed: int) -> None:
        super().__init__(config, seed, Stretched())

    def full(self, tokens: Any) -> Floats:
        """All keys by the length of this sequence."""
        return self.in_one_call(tokens)


class OwnTokenAlone(Mechanisms):
    """Lets each row see its own token and nothing else."""

    def mask(self, call: CachedCall, layer: int, keys: Ints) -> Bools:  # noqa: ARG002, D102
        return np.asarray(keys == call.positions[:, None])


class Blind(PlainDecoder):
    """Attends to nothing but a row's own token, on both paths alike."""

    def __init__(self, config: Config, seed: int) -> None:
        super().__init__(config, seed, OwnTokenAlone())

    def full(self, tokens: Any) -> Floats:
        """Rows without any history."""
        return self.in_one_call(tokens)


class GlobalCounter(PlainDecoder):
    """Counts tokens in the decoder; a new cache sets the count to 0."""

    count = 0

    def new_cache(self) -> Cache:
        """The counter belongs to the newest cache."""
        self.count = 0
        return super().new_cache()

    def extend(self, tokens: Any, cache: Cache) -> tuple[Floats, Cache]:
        """Positions go on at the count, whichever cache this is."""
        positions = self.count + np.arange(len(tokens))
        trace, after = extend(
            self.weights, tokens, cache, mechanisms=Mechanisms(input_positions=positions)
        )
        self.count += len(tokens)
        return trace.rows, after


class ReusesLastCache(PlainDecoder):
    """Hands the next request the cache of the one before."""

    last: Cache | None = None

    def new_cache(self) -> Cache:
        """Empty the first time only."""
        return self.last or super().new_cache()

    def extend(self, tokens: Any, cache: Cache) -> tuple[Floats, Cache]:
        """As the right one, and the cache is remembered."""
        rows, self.last = super().extend(tokens, cache)
        return rows, self.last


class Recomputing(PlainDecoder):
    """Fills its cache, and projects all of the history again at every call."""

    def extend(self, tokens: Any, cache: Cache) -> tuple[Floats, Cache]:
        """Right rows, at the price of a full pass."""
        rows, after = super().extend(tokens, cache)
        per_token = 3 * len(self.weights.layers)
        self._work.projected_rows += per_token * cache.length
        return rows, after


def _made_by(
    decoder: Callable[[Config, int], PlainDecoder], fault: Fault, changes: ConfigChanges
) -> Fault:
    """``fault`` made by ``decoder``, in the configurations that ``changes`` gives."""

    def make(seed: int, dtype: Precision = "float64") -> PlainDecoder:
        return decoder(changed_config(seed, dtype, changes), seed)

    return replace(fault, make=make)


def _fault(
    name: str,
    symptom: str,
    decoder: Callable[[Config, int], PlainDecoder],
    *,
    changes: ConfigChanges = no_window,
    **known: Any,
) -> Fault:
    """A fault of whole passes; ``known`` are the other arguments of `copying_fault`."""
    return _made_by(
        decoder, copying_fault(name, symptom, Mechanisms, changes=changes, **known), changes
    )


PASSES = (
    _fault(
        "full-acausal",
        "The pass without a cache has no mask, and its rows see later tokens.",
        Acausal,
        kind="uncached-path-wrong",
        mechanism="full pass",
        law="causality",
        reports=("huggingface/transformers#48748", "meta-pytorch/torchtune#959"),
        smallest="1+1",
    ),
    _fault(
        "full-unwindowed",
        "The window is applied where there is a cache, and not in the pass without one.",
        Unwindowed,
        kind="uncached-path-wrong",
        mechanism="full pass",
        law="window",
        reports=("mistralai/mistral-inference#88",),
        smallest="5",
        changes=with_window,
    ),
    _fault(
        "base-of-length",
        "Positions are scaled by the length so far, and cached keys keep an older scale.",
        MixedBase,
        kind="dynamic-rope-mixed-base",
        mechanism="positions",
        law="prefix",
        reports=("huggingface/transformers#25104", "huggingface/transformers#27227"),
        smallest="2+3",
        changes=with_input_positions,
    ),
    _fault(
        "blind",
        "Rows see no token but their own, with a cache and without.",
        Blind,
        kind="cached-prefix-not-consumed",
        mechanism="mask",
        law="sensitivity",
        reports=("tenstorrent/vllm#415",),
        smallest="1+1",
    ),
    _fault(
        "global-counter",
        "One counter in the decoder numbers the tokens of all caches.",
        GlobalCounter,
        kind="position-counter-drift",
        mechanism="positions",
        law="frame",
        reports=("fla-org/flash-linear-attention#477",),
        smallest="1",
        changes=with_input_positions,
    ),
    _fault(
        "left-behind",
        "A new request gets the cache of the one before.",
        ReusesLastCache,
        kind="reset-incomplete",
        mechanism="reset",
        law="determinism",
        reports=("EricLBuehler/candle-vllm#6",),
        smallest="1",
    ),
    _fault(
        "recomputes",
        "The history is projected again at every call, as if there were no cache.",
        Recomputing,
        kind="cached-prefix-not-consumed",
        mechanism="reuse",
        law="work",
        reports=("tenstorrent/tt-xla#5132",),
        smallest="1+1",
    ),
)
