"""The nine steps of the experiment for one seed. The only file here that runs the decoder."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cachecheck.experiment import protocol
from cachecheck.experiment.protocol import Array
from cachecheck.reference import (
    WRONG_MASKS,
    Config,
    Mechanisms,
    Weights,
    Work,
    by_chunks,
    by_prefixes,
    by_tokens,
    draw_weights,
    extend,
    full,
    new_cache,
)

MODEL = Config(
    vocab_size=protocol.VOCABULARY,
    width=protocol.DIMENSION,
    layers=protocol.LAYERS,
    heads=protocol.HEADS,
    key_value_heads=protocol.HEADS,
    head_width=protocol.DIMENSION,
    positions="sinusoidal",
    dtype="float64",
)
"""The decoder of the protocol; a test holds it equal to the reference's own `FROZEN`."""


def measure(seed: int) -> tuple[dict[str, Array], dict[str, int]]:
    """Run one seed.

    Returns:
        The arrays by their bare names, shapes as in `protocol.ARRAYS`; and the counts, counted by
        the code that did the work.
    """
    weights = draw_weights(MODEL, seed)
    # A window draws nothing, so these are the same weights under another mask.
    windowed = draw_weights(replace(MODEL, window=protocol.WINDOW), seed)
    arrays, counts = _unbounded(weights)
    arrays |= _later_tokens(weights)
    arrays |= _right_and_wrong_mask(weights)
    sliding, counts["window_kv_bytes"] = _sliding(windowed)
    return arrays | sliding, counts


def _unbounded(weights: Weights) -> tuple[dict[str, Array], dict[str, int]]:
    """Steps 1, 3, 4 and 5: the full pass and the three ways that must give its rows."""
    tokens = protocol.token_ids()  # (24,)
    once = full(weights, tokens)
    prefix_work, cached_work = Work(), Work()
    prefixes = by_prefixes(weights, tokens, work=prefix_work)
    cached = by_tokens(weights, tokens, work=cached_work)
    lengths = np.arange(1, len(tokens) + 1)  # (24,)
    arrays: dict[str, Array] = {
        "tokens": tokens,
        "full": once.rows,  # (24, d)
        "attention": once.probabilities[0][0],  # (24, 24), first layer, its only head
        "prefix": prefixes.rows,  # (24, d)
        "cached": cached.rows,  # (24, d)
        "cache_bytes": np.column_stack([lengths, cached.payloads]).astype(np.int64),  # (24, 2)
        "chunked": by_chunks(weights, tokens, protocol.CHUNKS).rows,  # (24, d)
    }
    counts = {
        "prefix_projected_rows": prefix_work.projected_rows,
        "cached_projected_rows": cached_work.projected_rows,
        "prefix_score_elements": prefix_work.score_elements,
        "cached_score_elements": cached_work.score_elements,
        "full_kv_bytes": cached.payloads[-1],
    }
    return arrays, counts


def _later_tokens(weights: Weights) -> dict[str, Array]:
    """Step 2: the rows after a change of the later half, with the mask and without."""
    tokens, changed = protocol.token_ids(), protocol.changed_token_ids()  # (24,) each
    return {
        "masked": full(weights, changed).rows,  # (24, d)
        "unmasked": full(weights, tokens, causal=False).rows,  # (24, d)
        "perturbed_unmasked": full(weights, changed, causal=False).rows,  # (24, d)
    }


def _right_and_wrong_mask(weights: Weights) -> dict[str, Array]:
    """Step 6: the same chunk after the same cache, its query rows numbered 5, 6, 7 or 0, 1, 2."""
    tokens = protocol.token_ids()
    past, stop = protocol.WRONG_MASK_PAST, protocol.WRONG_MASK_PAST + protocol.WRONG_MASK_CHUNK
    _, cache = extend(weights, tokens[:past], new_cache(weights))
    good, _ = extend(weights, tokens[past:stop], cache)
    restart = WRONG_MASKS["query-restart"].rule
    wrong, _ = extend(weights, tokens[past:stop], cache, mechanisms=Mechanisms(restart))
    return {"good": good.rows, "wrong": wrong.rows}  # (3, d) each


def _sliding(weights: Weights) -> tuple[dict[str, Array], int]:
    """Steps 7, 8 and 9, and the bytes that the windowed cache holds at the end."""
    tokens = protocol.token_ids()
    cached = by_tokens(weights, tokens)
    arrays = {
        "sliding": full(weights, tokens).rows,  # (24, d)
        "sliding_cached": cached.rows,  # (24, d)
        "reset": by_tokens(weights, tokens, input_positions=np.zeros_like(tokens)).rows,  # (24, d)
        "cropped": np.stack([_cropped_row(weights, i) for i in range(len(tokens))]),  # (24, d)
    }
    return arrays, cached.payloads[-1]


def _cropped_row(weights: Weights, last: int) -> Array:
    """Row ``last`` of a fresh pass over the raw tokens inside its window, (d,)."""
    positions = np.arange(max(0, last - protocol.WINDOW + 1), last + 1)  # (<= W,)
    fresh = full(weights, protocol.token_ids()[positions], positions=positions)
    return np.asarray(fresh.rows[-1])
