"""Decoding of whole sequences in three ways: prefix by prefix, token by token, chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cachecheck.errors import InputError
from cachecheck.reference.cache import Cache, new_cache
from cachecheck.reference.checks import check_tokens
from cachecheck.reference.extend import extend
from cachecheck.reference.full import full
from cachecheck.reference.masks import MaskRule, offset_mask
from cachecheck.reference.mechanisms import Mechanisms
from cachecheck.reference.weights import Floats, Weights
from cachecheck.reference.work import Work


@dataclass(frozen=True, eq=False)
class Decoded:
    """The rows of a whole sequence, with the hidden states, last cache and payloads behind them."""

    rows: Floats  # (S, width) or (S, V)
    hidden: Floats  # (L, S, width)
    cache: Cache | None  # after the last call; None where no cache is involved
    payloads: tuple[int, ...]  # bytes of keys and values after each call


def by_prefixes(weights: Weights, tokens: Any, *, work: Work | None = None) -> Decoded:
    """Prefix recomputation: for n = 1 ... S, a full pass over n tokens, its last row kept."""
    ids = check_tokens(tokens, weights.config.vocab_size)
    traces = [full(weights, ids[:n], work=work) for n in range(1, len(ids) + 1)]
    rows = np.stack([trace.rows[-1] for trace in traces])  # (S, width)
    hidden = np.stack([trace.hidden[:, -1] for trace in traces], axis=1)  # (L, S, width)
    return Decoded(rows, hidden, None, ())


def by_chunks(
    weights: Weights,
    tokens: Any,
    chunks: Sequence[int],
    *,
    mask_rule: MaskRule = offset_mask,
    input_positions: Any = None,
    work: Work | None = None,
) -> Decoded:
    """Cached decoding in calls of the given sizes.

    Args:
        weights: from `draw_weights`.
        tokens: (S,) integers in [0, V).
        chunks: sizes >= 1 that add up to S.
        mask_rule: `offset_mask`, or a wrong one to see what it does.
        input_positions: (S,) positions for the inputs alone, where a fault is wanted; the mask and
            the cache keep the true ones.
        work: counts are added here.

    Raises:
        InputError: chunks that are not a partition of the tokens, or what `extend` refuses.
    """
    ids = check_tokens(tokens, weights.config.vocab_size)
    cache = new_cache(weights)
    traces, payloads = [], []
    for start, stop in _spans(chunks, len(ids)):
        inputs = None if input_positions is None else input_positions[start:stop]
        trace, cache = extend(
            weights,
            ids[start:stop],
            cache,
            mechanisms=Mechanisms(mask_rule, inputs),
            work=work,
        )
        traces.append(trace)
        payloads.append(cache.payload)
    rows = np.concatenate([trace.rows for trace in traces])  # (S, width)
    hidden = np.concatenate([trace.hidden for trace in traces], axis=1)  # (L, S, width)
    return Decoded(rows, hidden, cache, tuple(payloads))


def by_tokens(
    weights: Weights,
    tokens: Any,
    *,
    mask_rule: MaskRule = offset_mask,
    input_positions: Any = None,
    work: Work | None = None,
) -> Decoded:
    """Cached decoding one token a call: `by_chunks` with every size 1."""
    ids = check_tokens(tokens, weights.config.vocab_size)
    return by_chunks(
        weights,
        ids,
        [1] * len(ids),
        mask_rule=mask_rule,
        input_positions=input_positions,
        work=work,
    )


def _spans(chunks: Sequence[int], length: int) -> Iterable[tuple[int, int]]:
    if not chunks or any(size < 1 for size in chunks) or sum(chunks) != length:
        raise InputError(
            f"chunk sizes must be >= 1 and add up to {length} tokens; got {list(chunks)}"
        )
    stops = np.cumsum(chunks).tolist()
    return zip([0, *stops[:-1]], stops, strict=True)
