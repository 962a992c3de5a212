"""The cached pass: only new tokens are projected, and they attend over cache and chunk.

Every kind of cache shares it. Each layer appends the chunk's keys and values (`Layer.append`, which
changes nothing visible), and the results are committed when all layers have succeeded
(`AnyCache.commit`, which may write in place). A call that is refused halfway therefore leaves the
cache as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from cachecheck.errors import InputError
from cachecheck.reference.attention import attention
from cachecheck.reference.cache import LayerState
from cachecheck.reference.checks import as_integers, check_fits, check_tokens
from cachecheck.reference.config import Config
from cachecheck.reference.layers import Trace, finish, normalise, project, read_out
from cachecheck.reference.mechanisms import RIGHT, CachedCall, Mechanisms, VisibleKeys
from cachecheck.reference.positions import Ints, embed
from cachecheck.reference.weights import Floats, Weights
from cachecheck.reference.work import Work


class Layer(Protocol):
    """One layer's memory of the ``length`` tokens so far."""

    @property
    def length(self) -> int: ...  # noqa: D102

    def append(self, key: Floats, value: Floats, positions: Ints) -> VisibleKeys:
        """Past and chunk together; (G, T, D) keys and values of (T,) positions that follow on."""


class AnyCache(Protocol):
    """A cache of any kind, as the forward pass and the decoder use it."""

    @property
    def layers(self) -> Sequence[Layer]: ...  # noqa: D102
    @property
    def length(self) -> int: ...  # noqa: D102 - S, evicted tokens included
    @property
    def last_chunk(self) -> int: ...  # noqa: D102 - only a wrong mask uses it
    @property
    def fingerprint(self) -> str: ...  # noqa: D102 - of the weights that made it

    def commit(self, appended: Sequence[Any], new: int, config: Config) -> Self:
        """The cache with ``new`` more tokens, from the layers that `Layer.append` returned."""

    def crop(self, length: int) -> Self:
        """The first ``length`` tokens alone; the decoder has checked that they are retained."""

    def state(self) -> list[LayerState]:
        """Per layer, the filled part by name, in order of positions."""


C = TypeVar("C", bound=AnyCache)


def extend(
    weights: Weights,
    tokens: Any,
    cache: C,
    *,
    mechanisms: Mechanisms = RIGHT,
    work: Work | None = None,
) -> tuple[Trace, C]:
    """Process one chunk of new tokens after those in ``cache``.

    Args:
        weights: the ones that filled the cache.
        tokens: (T,) integers in [0, V), the chunk.
        cache: S tokens so far; R of them retained. A kind that mutates writes into it last of all.
        mechanisms: the right ones, or some with a fault to see what it does.
        work: counts are added here.

    Returns:
        The chunk's rows, hidden states (L, T, width) and probabilities (H, T, R+T); and the
        cache of S+T tokens, cut to window and sinks after the whole chunk has layers.

    Raises:
        InputError: bad tokens, a cache of another decoder, ``max_length`` exceeded, or a row that
            the mask leaves without any key.
    """
    config = weights.config
    ids = check_tokens(tokens, config.vocab_size)  # (T,)
    check_cache(cache, weights)
    check_fits(cache.length + len(ids), config)
    call = CachedCall(config, cache.length, len(ids), cache.last_chunk)
    inputs = _checked_inputs(mechanisms.inputs(call, 0), call)  # (T,)
    hidden, probabilities, layers = [], [], []
    with np.errstate(invalid="raise", over="raise", divide="raise"):
        x = embed(weights, ids, inputs)  # (T, width)
        for number, (layer, past) in enumerate(zip(weights.layers, cache.layers, strict=True)):
            normal = normalise(x, config)  # (T, width)
            inputs = _checked_inputs(mechanisms.inputs(call, number), call)  # (T,)
            query, key, value = project(normal, layer, config, inputs, work)  # (H|G, T, D)
            key, value = mechanisms.stored(call, number, key, value)  # (G, T, D)
            appended = past.append(key, value, call.positions)  # (G, R+T, D) keys and values
            visible = mechanisms.visible_keys(call, number, appended)  # (G, R+T, D) keys and values
            mask = mechanisms.mask(call, number, visible.positions)  # (T, R+T)
            bias = mechanisms.bias(call, visible.positions)  # (H, T, R+T) or None
            mixed, weighting = attention(
                query, visible.key, visible.value, mask, bias=bias, work=work
            )  # (H, T, D), (H, T, R+T)
            x = finish(x, mixed, layer, config)  # (T, width)
            hidden.append(x)
            probabilities.append(weighting)
            layers.append(appended)
        rows = read_out(x, weights)  # (T, width) or (T, V)
    after = cache.commit(layers, len(ids), config)
    return Trace(rows, np.stack(hidden), tuple(probabilities)), after


def _checked_inputs(given: Any, call: CachedCall) -> Ints:
    inputs = as_integers(given, "input positions")
    if len(inputs) != call.new or inputs.min() < 0:
        raise InputError(
            f"expected {call.new} input positions >= 0, one a token; got {inputs.tolist()}"
        )
    return inputs


def check_cache(cache: Any, weights: Weights) -> None:
    """Refuse a cache that these weights did not make or that is not whole.

    Raises:
        InputError: not a cache, made by other weights, or layers that disagree on the length.
    """
    if not hasattr(cache, "fingerprint"):
        raise InputError(f"expected a reference Cache; got {type(cache).__name__}")
    if cache.fingerprint != weights.fingerprint:
        raise InputError("this cache was filled by another decoder; its rows would be wrong")
    if len(cache.layers) != weights.config.layers:
        raise InputError(f"expected {weights.config.layers} cached layers; got {len(cache.layers)}")
    for number, layer in enumerate(cache.layers):
        if layer.length != cache.length:
            raise InputError(
                f"layer {number} of the cache holds {layer.length} tokens, the cache {cache.length}"
            )
