"""Models with a recurrent state or a convolution, in chunks."""

from __future__ import annotations

import transformers as library  # not each release has all of these models

from benchmarks.history.adapters.plain import ATTENTION, HEADS, SIZES, Plain


def mamba2(seed: int) -> Plain:
    """Mamba 2: a state-space model."""
    sizes = {"num_heads": 8, "head_dim": 8, "state_size": 8, "n_groups": 2, "chunk_size": 4}
    return Plain(library.Mamba2ForCausalLM, library.Mamba2Config(**SIZES, **sizes), seed)


def qwen3_next(seed: int) -> Plain:
    """Qwen3-Next: one layer of a gated delta rule, one of attention.

    Its gated norm divides by the size of what may be short, and magnifies rounding by as much: with
    the usual epsilon of 1e-6 the right release was INCONCLUSIVE.
    """
    linear = {f"linear_{kind}_head_dim": 8 for kind in ("key", "value")}
    heads = {"linear_num_key_heads": 2, "linear_num_value_heads": HEADS, "head_dim": 8}
    config = library.Qwen3NextConfig(
        **SIZES,
        **ATTENTION,
        **linear,
        **heads,
        layer_types=["linear_attention", "full_attention"],
        num_experts=0,
        rms_norm_eps=1e-2,
    )
    return Plain(library.Qwen3NextForCausalLM, config, seed)


def lfm2(seed: int) -> Plain:
    """LFM2: one layer of a short convolution, one of attention."""
    config = library.Lfm2Config(**SIZES, **ATTENTION, layer_types=["conv", "full_attention"])
    return Plain(library.Lfm2ForCausalLM, config, seed)


def falcon_h1(seed: int) -> Plain:
    """Falcon-H1: both in every layer."""
    config = library.FalconH1Config(**SIZES, **ATTENTION, **_MAMBA2)
    return Plain(library.FalconH1ForCausalLM, config, seed)


def granite_hybrid(seed: int) -> Plain:
    """GraniteMoeHybrid: one layer of Mamba 2, one of attention; no experts."""
    config = library.GraniteMoeHybridConfig(
        **SIZES,
        **ATTENTION,
        **_MAMBA2,
        mamba_expand=2,
        layer_types=["mamba", "attention"],
        num_local_experts=0,
        shared_intermediate_size=64,
    )
    return Plain(library.GraniteMoeHybridForCausalLM, config, seed)


_MAMBA2 = {
    "mamba_n_heads": 8,
    "mamba_d_head": 8,
    "mamba_d_ssm": 64,
    "mamba_d_state": 8,
    "mamba_n_groups": 2,
    "mamba_chunk_size": 4,
}


def olmo_hybrid(seed: int) -> Plain:
    """OLMo-hybrid: one layer of a gated delta rule, one of attention.

    Weights are smaller, since with those of the others the right release was INCONCLUSIVE: single
    rows were up to 2e-5 of their size apart. That is rounding: the worst of 800 cases was 4e-15
    apart with the model's arithmetic in float64 throughout.
    """
    config = library.OlmoHybridConfig(
        **{**SIZES, "initializer_range": 0.1},
        **ATTENTION,
        **_DELTA,
        layer_types=["linear_attention", "full_attention"],
        rms_norm_eps=1e-2,
        pad_token_id=None,
    )
    return Plain(library.OlmoHybridForCausalLM, config, seed)


def qwen3_5(seed: int) -> Plain:
    """Qwen3.5: the same kinds of layers."""
    config = library.Qwen3_5TextConfig(
        **SIZES,
        **ATTENTION,
        **_DELTA,
        head_dim=8,
        layer_types=["linear_attention", "full_attention"],
        rms_norm_eps=1e-2,
    )
    return Plain(library.Qwen3_5ForCausalLM, config, seed)


_DELTA = {
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "linear_num_key_heads": 4,
    "linear_num_value_heads": 4,
}
