"""Faults in a call: pads of a batch, biases on the scores, recurrent states."""

from __future__ import annotations

import copy
from typing import Any

from benchmarks.engine_faults.fault import RECURRENT, EngineFault


def _pads_seen(original: Any) -> Any:
    def preprocess(*given: Any, **named: Any) -> Any:
        done, mask, packed, rows, *sizes = original(*given, **named)
        _, past, _ = sizes
        if not done and mask is not None and int(past):
            mask = mask.new_ones(mask.shape)
        return done, mask, packed, rows, *sizes

    return preprocess


def _pads_counted(original: Any) -> Any:
    def prepare(self: Any, input_ids: Any, **named: Any) -> Any:
        inputs, mask = original(self, input_ids, **named), named["attention_mask"]
        if "position_ids" in inputs and not named["is_first_iteration"]:
            columns = mask.new_ones(mask.shape).cumsum(-1) - 1
            inputs["position_ids"] = columns[:, -input_ids.shape[1] :]
        return inputs

    return prepare


def _alibi_counts_pads(original: Any) -> Any:
    return lambda mask, *rest, **named: original(mask.new_ones(mask.shape), *rest, **named)


def _bias_of_chunk(original: Any) -> Any:
    def forward(self: Any, hidden: Any, *rest: Any, **named: Any) -> Any:
        bias, new = named["alibi"], hidden.shape[1]
        past = bias.shape[-1] - new
        if past > 0:
            named["alibi"] = bias = bias.clone()
            bias[..., :past] = bias[..., past - 1 : past]
        return original(self, hidden, *rest, **named)

    return forward


def _state_dropped(original: Any) -> Any:
    def chunk_rule(*given: Any, **named: Any) -> Any:
        return original(*given, **{**named, "initial_state": None})

    return chunk_rule


def _short_tail(original: Any) -> Any:
    def update_conv_state(self: Any, states: Any, state_idx: int = 0, **named: Any) -> Any:
        whole = original(self, states, state_idx, **named)
        kept = self.conv_states[state_idx]
        kept[..., 1 - kept.shape[-1]] = 0  # a kernel of K sees K - 1 earlier inputs
        return whole

    return update_conv_state


def _pads_enter(_original: Any) -> Any:
    return lambda hidden, _mask: hidden


def _same_states(_original: Any) -> Any:
    def deepcopy(self: Any, _memo: Any) -> Any:
        other = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, dict):
                setattr(other, name, dict(value))
        return other

    return deepcopy


FAULTS = (
    EngineFault(
        "pads-seen-later",
        "calls after the first let rows see the pads in front of them",
        "leftpad-mask-dropped",
        "masking_utils:_preprocess_mask_arguments",
        _pads_seen,
    ),
    EngineFault(
        "pads-counted-later",
        "calls after the first count pads as positions",
        "leftpad-shared-positions",
        "generation.utils:GenerationMixin.prepare_inputs_for_generation",
        _pads_counted,
    ),
    EngineFault(
        "alibi-counts-pads",
        "the linear bias counts pads as positions: a shift that softmax takes out again",
        "leftpad-shared-positions",
        "modeling:build_alibi_tensor",
        _alibi_counts_pads,
        architectures=("bloom",),
    ),
    EngineFault(
        "alibi-of-chunk",
        "the linear bias takes all of the history for one token back",
        "bias-built-on-query-length",
        "modeling:BloomAttention.forward",
        _bias_of_chunk,
        architectures=("bloom",),
    ),
    EngineFault(
        "chunk-drops-state",
        "a chunk starts its recurrence anew",
        "recurrent-chunk-drops-state",
        "modeling:torch_chunk_gated_delta_rule",
        _state_dropped,
        architectures=RECURRENT,
    ),
    EngineFault(
        "convolution-tail-short",
        "the convolution forgets the earliest input that it still needs",
        "shift-state-not-written",
        "cache_utils:LinearAttentionLayer.update_conv_state",
        _short_tail,
        architectures=(*RECURRENT, "llama"),
    ),
    EngineFault(
        "pads-enter-state",
        "pads go through the recurrence like tokens",
        "padding-enters-recurrent-state",
        "modeling:apply_mask_to_padding_states",
        _pads_enter,
        architectures=RECURRENT,
    ),
    EngineFault(
        "fork-shares-state",
        "a copy of a recurrent layer has the same states, which are written in place",
        "fork-copy-missing",
        "cache_utils:LinearAttentionLayer.__deepcopy__",
        _same_states,
        architectures=(*RECURRENT, "llama"),
    ),
)
