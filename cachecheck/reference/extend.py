"""The cached pass: only new tokens are projected, and they attend over cache and chunk."""

from __future__ import annotations

from typing import Any

import numpy as np

from cachecheck.errors import InputError
from cachecheck.reference.attention import attention
from cachecheck.reference.cache import Cache, check_cache
from cachecheck.reference.checks import as_integers, check_fits, check_tokens
from cachecheck.reference.layers import Trace, finish, normalise, project, read_out, score_bias
from cachecheck.reference.masks import MaskRule, offset_mask
from cachecheck.reference.positions import Ints, embed
from cachecheck.reference.weights import Weights
from cachecheck.reference.work import Work


def extend(
    weights: Weights,
    tokens: Any,
    cache: Cache,
    *,
    mask_rule: MaskRule = offset_mask,
    input_positions: Any = None,
    work: Work | None = None,
) -> tuple[Trace, Cache]:
    """Process one chunk of new tokens after those in ``cache``, which is left as it was.

    Args:
        weights: the ones that filled the cache.
        tokens: (T,) integers in [0, V), the chunk.
        cache: S tokens so far; R of them retained.
        mask_rule: `offset_mask`, or a wrong one to see what it does.
        input_positions: (T,) positions for the inputs alone, where a fault is wanted; the mask
            and the cache keep the true ones.
        work: counts are added here.

    Returns:
        The chunk's rows, hidden states (L, T, width) and probabilities (H, T, R+T); and the
        cache of S+T tokens, cut to window and sinks after the whole chunk has attended.

    Raises:
        InputError: bad tokens, a cache of another decoder, ``max_length`` exceeded, or a row that
            the mask leaves without any key.
    """
    config = weights.config
    ids = check_tokens(tokens, config.vocab_size)  # (T,)
    check_cache(cache, weights)
    check_fits(cache.length + len(ids), config)
    places = cache.length + np.arange(len(ids))  # (T,)
    inputs = _input_positions(input_positions, places)  # (T,)
    hidden, probabilities, kept = [], [], []
    with np.errstate(invalid="raise", over="raise", divide="raise"):
        x = embed(weights, ids, inputs)  # (T, width)
        for layer, past in zip(weights.layers, cache.layers, strict=True):
            normal = normalise(x, config)  # (T, width)
            query, key, value = project(normal, layer, config, inputs, work)  # (H|G, T, D)
            seen = past.append(key, value, places)  # (G, R+T, D) keys and values
            mask = mask_rule(
                places,
                seen.positions,
                window=config.window,
                sinks=config.sinks,
                last_chunk=cache.last_chunk,
            )  # (T, R+T)
            bias = score_bias(config, places, seen.positions)  # (H, T, R+T) or None
            mixed, weighting = attention(
                query, seen.key, seen.value, mask, bias=bias, work=work
            )  # (H, T, D), (H, T, R+T)
            x = finish(x, mixed, layer, config)  # (T, width)
            hidden.append(x)
            probabilities.append(weighting)
            kept.append(seen.evict(config.window, config.sinks))
        rows = read_out(x, weights)  # (T, width) or (T, V)
    after = Cache(tuple(kept), cache.length + len(ids), len(ids), cache.fingerprint)
    return Trace(rows, np.stack(hidden), tuple(probabilities)), after


def _input_positions(given: Any, places: Ints) -> Ints:
    if given is None:
        return places
    inputs = as_integers(given, "input positions")
    if len(inputs) != len(places) or inputs.min() < 0:
        raise InputError(
            f"expected {len(places)} input positions >= 0, one a token; got {inputs.tolist()}"
        )
    return inputs
