"""Wrong positions: counted from the wrong place, or applied in the wrong way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.engine_faults.fault import ROTARY, WINDOWED, EngineFault, Wrong

_COUNTED = "cache_utils:Cache.get_seq_length"
_LATE = 12


def _counted(wrong: Callable[[Any, Any], Any]) -> Wrong:
    """Make the past that a model counts wrong; masks ask by a layer's number, and get it right."""

    def replace(original: Any) -> Any:
        def get_seq_length(self: Any, layer_idx: int | None = None) -> Any:
            length = original(self, layer_idx or 0)
            return wrong(self, length) if layer_idx is None else length

        return get_seq_length

    return replace


def _retained(cache: Any, length: Any) -> Any:
    """The number of keys that the first layer with any has kept."""
    for layer in cache.layers:
        keys = getattr(layer, "keys", None)
        if keys is not None and keys.ndim == 4:
            return min(length, keys.shape[-2])
    return length


def _one_angle(original: Any) -> Any:
    def forward(self: Any, x: Any, position_ids: Any, *rest: Any, **named: Any) -> Any:
        if int(position_ids.min()):
            position_ids = position_ids[..., :1].expand_as(position_ids)
        return original(self, x, position_ids, *rest, **named)

    return forward


def _keys_twice(original: Any) -> Any:
    def apply_rotary_pos_emb(query: Any, key: Any, cos: Any, sin: Any, *rest: Any) -> Any:
        query, once = original(query, key, cos, sin, *rest)
        onto_history = bool((cos[..., 0, :] != 1).any())  # position 0 is not rotated
        return query, original(once, once, cos, sin, *rest)[1] if onto_history else once

    return apply_rotary_pos_emb


FAULTS = (
    EngineFault(
        "positions-restart",
        "every call numbers its tokens from 0",
        "position-restarts-at-zero",
        _COUNTED,
        _counted(lambda _cache, length: length * 0),
    ),
    EngineFault(
        "positions-ahead",
        "calls after the first number their tokens one too high",
        "position-counter-drift",
        _COUNTED,
        _counted(lambda _cache, length: length + (length > 0)),
    ),
    EngineFault(
        "positions-ahead-late",
        f"calls onto {_LATE} tokens or more number theirs one too high",
        "position-counter-drift",
        _COUNTED,
        _counted(lambda _cache, length: length + (length >= _LATE)),
    ),
    EngineFault(
        "positions-of-retained",
        "positions count the keys that the first layer has kept",
        "position-from-retained-length",
        _COUNTED,
        _counted(_retained),
        architectures=(*WINDOWED, "llama"),
    ),
    EngineFault(
        "rotary-one-angle",
        "all rows of a call onto a history are rotated as its first",
        "position-counter-drift",
        "modeling:*RotaryEmbedding.forward",
        _one_angle,
        architectures=ROTARY,
    ),
    EngineFault(
        "rotary-keys-twice",
        "keys of calls onto a history are rotated twice",
        "key-rotation-missing-or-twice",
        "modeling:apply_rotary_pos_emb",
        _keys_twice,
        architectures=ROTARY,
    ),
)
