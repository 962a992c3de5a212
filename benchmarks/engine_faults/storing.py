"""Keys and values that are stored wrongly, or handed out wrongly."""

from __future__ import annotations

import copy
from typing import Any

from benchmarks.engine_faults.fault import EngineFault

_APPENDED = "cache_utils:DynamicLayer.update"
_UPDATED = "cache_utils:Cache.update"
_QUANTISED = ("llama", "gpt2", "bloom", "phi")
_FILLED, _LATE = 12, 8


def _newest_lost(original: Any) -> Any:
    def update(self: Any, keys: Any, values: Any, *rest: Any, **named: Any) -> Any:
        whole = original(self, keys, values, *rest, **named)
        if keys.shape[-2] > 1:
            self.keys, self.values = (part[..., :-1, :] for part in whole)
        return whole

    return update


def _oldest_overwritten(original: Any) -> Any:
    def update(self: Any, keys: Any, values: Any, *rest: Any, **named: Any) -> Any:
        whole = original(self, keys, values, *rest, **named)
        if self.keys.shape[-2] > _FILLED:
            self.keys = self.keys.clone()
            self.keys[..., 0, :] = keys[..., -1, :]
        return whole

    return update


def _past(cache: Any, layer: int) -> int:
    return int(cache.get_seq_length(layer))


def _values_from_keys(original: Any) -> Any:
    def update(self: Any, keys: Any, values: Any, layer: int, *rest: Any, **named: Any) -> Any:
        wrong = layer == len(self.layers) - 1 and _past(self, layer)
        return original(self, keys, keys if wrong else values, layer, *rest, **named)

    return update


def _layer_of_first(original: Any) -> Any:
    def update(self: Any, keys: Any, values: Any, layer: int, *rest: Any, **named: Any) -> Any:
        wrong = layer == 1 and _past(self, layer)
        found = original(self, keys, values, layer, *rest, **named)
        first = getattr(self.layers[0], "keys", None)
        if wrong and first is not None and first.shape == found[0].shape:
            return first, self.layers[0].values
        return found

    return update


def _third_row(original: Any) -> Any:
    def update(self: Any, keys: Any, values: Any, layer: int, *rest: Any, **named: Any) -> Any:
        past = _past(self, layer)
        found, mixed = original(self, keys, values, layer, *rest, **named)
        if past and len(mixed) > 2:
            mixed = mixed.clone()
            mixed[2, :, :-1] = mixed[0, :, :-1]
        return found, mixed

    return update


def _late_slot(original: Any) -> Any:
    def update(self: Any, keys: Any, values: Any, *rest: Any, **named: Any) -> Any:
        past = int(self.cumulative_length)
        wrong = int(keys.shape[-2] == 1 and _LATE <= past < self.max_cache_len - 1)
        self.cumulative_length.add_(wrong)
        found = original(self, keys, values, *rest, **named)
        self.cumulative_length.sub_(wrong)
        return found

    return update


def _own_scale(original: Any) -> Any:
    return lambda self, tensor, **_scale: original(self, tensor)


def _scale_of_keys(original: Any) -> Any:
    def update(self: Any, keys: Any, values: Any, *rest: Any, **named: Any) -> Any:
        found = original(self, keys, values, *rest, **named)
        self._quantized_values = (self._quantized_values[0], self._quantized_keys[1])
        return found

    return update


def _same_layer(_original: Any) -> Any:
    return lambda self, _memo: self


def _same_buffers(_original: Any) -> Any:
    def deepcopy(self: Any, _memo: Any) -> Any:
        other = copy.copy(self)
        other.cumulative_length = self.cumulative_length.clone()
        return other

    return deepcopy


FAULTS = (
    EngineFault(
        "newest-not-stored",
        "the last token of a chunk is not stored",
        "token-not-written",
        _APPENDED,
        _newest_lost,
    ),
    EngineFault(
        "oldest-overwritten-late",
        f"past {_FILLED} tokens the newest key is also written over the oldest",
        "ring-overwrite-in-chunk",
        _APPENDED,
        _oldest_overwritten,
    ),
    EngineFault(
        "values-from-keys",
        "the last layer stores keys for values in calls onto a history",
        "value-taken-from-key",
        _UPDATED,
        _values_from_keys,
    ),
    EngineFault(
        "layer-of-first",
        "the second layer attends to the first one's keys and values",
        "shared-kv-layer-mishandled",
        _UPDATED,
        _layer_of_first,
    ),
    EngineFault(
        "third-row-of-first",
        "the third row of a batch sees the values of the first one's history",
        "batch-row-crosstalk",
        _UPDATED,
        _third_row,
    ),
    EngineFault(
        "static-slot-late",
        f"a single token onto {_LATE} or more goes into the slot behind its own",
        "token-not-written",
        "cache_utils:StaticLayer.update",
        _late_slot,
        variants=("static",),
    ),
    EngineFault(
        "fp8-own-scale",
        "each call is stored under a scale of its own and read under the first one's",
        "quant-scale-lost",
        "cache_utils:Fp8QuantizedLayer._quantize",
        _own_scale,
        variants=("fp8",),
        architectures=_QUANTISED,
    ),
    EngineFault(
        "fp8-scale-of-keys",
        "stored values are read under the keys' scale",
        "quant-scale-lost",
        "cache_utils:Fp8QuantizedLayer.update",
        _scale_of_keys,
        variants=("fp8",),
        architectures=_QUANTISED,
        missed="where both scales are alike it moves rows by less than 8-bit rounding explains",
    ),
    EngineFault(
        "fork-shares-layers",
        "a copy of a growing cache has the same layers",
        "cache-aliasing-mutation",
        "cache_utils:DynamicLayer.__deepcopy__",
        _same_layer,
    ),
    EngineFault(
        "static-fork-shares-buffers",
        "a copy of a static cache has its own length and the same buffers",
        "fork-copy-missing",
        "cache_utils:StaticLayer.__deepcopy__",
        _same_buffers,
        variants=("static",),
        architectures=("llama", "gpt2", "gemma2", "bloom"),
        law="branch",
        missed="4 cases of an architecture need not go on with both copies; those of the others do",
    ),
)
