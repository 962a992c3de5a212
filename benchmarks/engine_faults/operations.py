"""Rollbacks, beam searches and resets that leave something behind."""

from __future__ import annotations

from typing import Any

from benchmarks.engine_faults.fault import FEW, RECURRENT, EngineFault

_CROP = "cache_utils:Cache.crop"
_REORDER = "cache_utils:Cache.reorder_cache"
_ROLLED_BACK = ("dynamic", "recording", "static")
_REORDERED = ("dynamic", "static")


def _crop_one_short(original: Any) -> Any:
    return lambda self, number: original(self, min(number + 1, 0))


def _crop_skips_last(_original: Any) -> Any:
    def crop(self: Any, number: int) -> None:
        for layer in self.layers[:-1]:
            layer.crop(number)

    return crop


def _crop_wrong_end(original: Any) -> Any:
    def crop(self: Any, number: int) -> None:
        last = self.layers[-1]
        held: tuple[Any, Any] = (getattr(last, "keys", None), getattr(last, "values", None))
        original(self, number)
        if number and held[0] is not None and not hasattr(last, "max_cache_len"):
            kept = last.keys.shape[-2]
            last.keys, last.values = (part[..., -kept:, :] for part in held)

    return crop


def _reorder_keys_only(original: Any) -> Any:
    def reorder_cache(self: Any, rows: Any) -> None:
        before = self.values
        original(self, rows)
        self.values = before

    return reorder_cache


def _reorder_beams(original: Any) -> Any:
    def reorder_cache(self: Any, rows: Any) -> None:
        before = self.values
        original(self, rows)
        if before is not None and before.shape == self.values.shape:
            self.values = before

    return reorder_cache


def _reorder_skips_last(_original: Any) -> Any:
    def reorder_cache(self: Any, rows: Any) -> None:
        for layer in self.layers[:-1]:
            layer.reorder_cache(rows)

    return reorder_cache


def _reorder_third_row(original: Any) -> Any:
    def reorder_cache(self: Any, rows: Any) -> None:
        rows = rows.clone()
        rows[2:3] = rows[0]
        original(self, rows)

    return reorder_cache


def _reorder_skips_state(original: Any) -> Any:
    def reorder_cache(self: Any, rows: Any) -> None:
        before = dict(self.recurrent_states)
        original(self, rows)
        self.recurrent_states = before

    return reorder_cache


def _reset_keeps_length(original: Any) -> Any:
    def reset(self: Any) -> None:
        before: Any = getattr(self, "cumulative_length", None)
        before = before.clone() if hasattr(before, "clone") else before
        original(self)
        if before is not None:
            self.cumulative_length = before

    return reset


FAULTS = (
    EngineFault(
        "crop-one-short",
        "a rollback takes back one token fewer",
        "rollback-count-wrong",
        _CROP,
        _crop_one_short,
        variants=_ROLLED_BACK,
    ),
    EngineFault(
        "crop-skips-last-layer",
        "a rollback leaves the last layer as it is",
        "rollback-silent-noop",
        _CROP,
        _crop_skips_last,
        variants=_ROLLED_BACK,
    ),
    EngineFault(
        "crop-wrong-end",
        "a rollback takes the oldest tokens from the last layer, of a cache that grows",
        "rollback-count-wrong",
        _CROP,
        _crop_wrong_end,
        variants=("dynamic", "recording"),
    ),
    EngineFault(
        "reorder-keys-only",
        "rows that change places leave their values behind",
        "beam-reorder-missing",
        "cache_utils:CacheLayerMixin.reorder_cache",
        _reorder_keys_only,
        variants=_REORDERED,
    ),
    EngineFault(
        "reorder-beams",
        "values stay behind where as many rows go on as there were, as in a beam search",
        "beam-reorder-missing",
        "cache_utils:CacheLayerMixin.reorder_cache",
        _reorder_beams,
        architectures=FEW,
        law="reorder",
    ),
    EngineFault(
        "reorder-skips-last-layer",
        "rows that change places leave the last layer behind",
        "beam-reorder-missing",
        _REORDER,
        _reorder_skips_last,
        variants=_REORDERED,
    ),
    EngineFault(
        "reorder-third-row",
        "the third row after a reordering is the first again",
        "beam-reorder-missing",
        _REORDER,
        _reorder_third_row,
        variants=_REORDERED,
        missed="4 cases of an architecture need not choose three rows of which the last differs; "
        "those of the others do",
    ),
    EngineFault(
        "reorder-skips-state",
        "rows that change places leave their recurrent state behind",
        "beam-reorder-missing",
        "cache_utils:LinearAttentionCacheLayerMixin.reorder_cache",
        _reorder_skips_state,
        architectures=(*RECURRENT, "llama"),
    ),
    EngineFault(
        "reset-keeps-length",
        "a layer that was reset counts on from its old length",
        "reset-incomplete",
        "cache_utils:CacheLayerMixin.reset",
        _reset_keeps_length,
        variants=_REORDERED,
    ),
)
