"""Fields that single architectures need beyond `SIZES`, with the reason where it is not plain.

A field that `SIZES` gives and an architecture's own checks refuse is given here; ``UNSET`` leaves
a field to the architecture's default.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

UNSET = object()
"""Leave this field at its default."""

_DOTS3 = {
    "num_key_value_heads": 4,
    # Layers with a window have sizes of their own, which are no fields.
    "swa_num_attention_heads": 4,
    "swa_num_key_value_heads": 4,
    "swa_head_dim": 12,
    "swa_q_lora_rank": 16,
    "swa_kv_lora_rank": 16,
    "swa_qk_nope_head_dim": 8,
    "swa_v_head_dim": 8,
}
_MLA = {"num_key_value_heads": 4}  # one key for each query head, out of one compressed row
# These number positions from the padding token's ID on and skip tokens that equal it: so it is a
# token that is never drawn, and the table is longer by as much.
_COUNTS_PADDING = {"vocab_size": 33, "pad_token_id": 32, "max_position_embeddings": 64 + 33}
_ENDS = {"bos_token_id": UNSET, "eos_token_id": UNSET, "pad_token_id": UNSET}
_PADDING_BEYOND = {"vocab_size": 33, "pad_token_id": 32}
_ENDS_BEYOND = {**_PADDING_BEYOND, "bos_token_id": 32, "eos_token_id": 32}
_ROTARY_BY_KIND = {
    kind: {"rope_type": "default", "rope_theta": 10_000.0}
    for kind in ("full_attention", "sliding_attention")
}
_ALTERNATING = {"num_hidden_layers": 2, "layer_types": ["linear_attention", "full_attention"]}

# Layers with and without rotation, in chunks and not, with experts and without.
_LLAMA4 = {
    "num_hidden_layers": 2,
    "layer_types": ["chunked_attention", "full_attention"],
    "no_rope_layers": [1, 0],
    "moe_layers": [1],
}
# Sparse attention by an index, and n-gram embeddings with a convolution: both with caches.
_QWEN4 = {
    **_ENDS_BEYOND,
    "ple_layer_ids": [1],
    "heads_per_ngram": 2,
    "ngram_vocab_size_base": 64,
    "make_ngram_vocab_size_divisible_by": 8,
    "split_ngram_parts": 1,
    "indexer_n_heads": 2,
    "indexer_kv_heads": 1,
    "indexer_head_dim": 8,
    "indexer_budget": 8,
    "indexer_compress_ratio": 2,
}

EXCEPTIONS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "axk1": _MLA,
        "axk2": _MLA,
        "bailing_hybrid": {**_MLA, "head_dim": 8},
        "bamba": {"attn_layer_indices": [1]},
        "camembert": _COUNTS_PADDING,
        "cohere_compass_text": {"rope_parameters": _ROTARY_BY_KIND},
        "cwm": _ENDS,
        "data2vec-text": _COUNTS_PADDING,
        "dbrx": {"attn_config": {"kv_n_heads": 2, "rope_theta": 10_000.0, "clip_qkv": 8}},
        "deepseek_v2": _MLA,
        "deepseek_v3": _MLA,
        "deepseek_v32": _MLA,
        "deepseek_v4": {
            "compress_rates": {"compressed_sparse_attention": 2, "heavily_compressed_attention": 4}
        },
        "dory": {
            "n_input_layers": 1,
            "n_recurrent_layers": 2,
            "n_output_layers": 1,
            "num_hidden_layers": 4,
            "layer_types": ["sliding_attention"] * 2 + ["full_attention"] * 2,
            "ngpt_alpha_init": 0.5,  # else attention hardly shows
        },
        "dots1": {"n_shared_experts": 1},
        "dots3_note": {"text_config": _DOTS3},
        "dots3_note_text": _DOTS3,
        "emu3": _ENDS_BEYOND,
        "gemma4": {"text_config": {**_PADDING_BEYOND, "vocab_size_per_layer_input": 33}},
        "gemma4_unified": {"text_config": _PADDING_BEYOND},
        "gemma3n_text": {
            "num_hidden_layers": 4,
            "layer_types": ["sliding_attention", "full_attention"] * 2,
            "num_kv_shared_layers": 2,
            "intermediate_size": [64] * 4,
            "activation_sparsity_pattern": [0.0] * 4,
            "laurel_rank": 8,
        },
        "glm4_moe_lite": _MLA,
        "glm_moe_dsa": _MLA,
        "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
        "granitemoehybrid": _ALTERNATING,
        "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1},
        "kimi_linear": _MLA,
        "lfm2": {"num_hidden_layers": 2, "layer_types": ["conv", "full_attention"]},
        "lfm2_moe": {"layer_types": ["conv", "full_attention"], "num_dense_layers": 1},
        "llama4": _LLAMA4,
        "llama4_text": _LLAMA4,
        "longcat_flash": {**_MLA, "zero_expert_num": 2, "head_dim": 4},
        "mamba2": {"num_heads": 4, "head_dim": 16},
        "minicpm3": _MLA,
        "mllama": _ENDS_BEYOND,
        "modernbert-decoder": {**_ENDS_BEYOND, "sep_token_id": 32, "cls_token_id": 32},
        "musicgen": {"num_codebooks": 1},  # several are given as as many sequences
        "musicgen_melody": {"num_codebooks": 1},
        # a table of N positions holds N - 2 tokens
        "prophetnet": {"pad_token_id": 0, "max_position_embeddings": 66},
        "qwen4_exp_text": _QWEN4,
        "qwen4_exp": _QWEN4,
        "recurrent_gemma": {"block_types": ["recurrent", "attention"]},
        "reformer": {
            **_PADDING_BEYOND,
            "axial_pos_embds": False,
            "hash_seed": 0,  # else every call hashes anew, at random
            "attn_layers": ["local", "lsh"],
            "local_attn_chunk_length": 4,
            "lsh_attn_chunk_length": 4,
        },
        "roberta": _COUNTS_PADDING,
        "roberta-prelayernorm": _COUNTS_PADDING,
        "sarvam_mla": _MLA,
        "xlm-roberta": _COUNTS_PADDING,
        "xlm-roberta-xl": _COUNTS_PADDING,
        "xlnet": {"attn_type": "uni"},
        # its projections are rounded up to multiples of 64
        "xlstm": {"hidden_size": 128, "embedding_dim": 128},
        "xmod": {**_COUNTS_PADDING, "default_language": "en_XX"},
        "xlm": {**_PADDING_BEYOND, "causal": True},
        "youtu": _MLA,
        "zamba": {"num_hidden_layers": 4, "layers_block_type": ["mamba", "hybrid"] * 2},
        "zamba2": {"layers_block_type": ["mamba", "hybrid"]},
        "zaya": {"num_experts_per_tok": 1},
    }
)
"""Model type, as the library spells it -> fields of its configuration."""

NOT_CAUSAL: Mapping[str, str] = MappingProxyType(
    {
        "cpmant": "sees the whole prompt both ways, and takes it again with each call",
        "xlm": "takes the whole sequence again with each call, and a mask token behind it",
    }
)
"""Model type -> why it is no decoder that rows and caches could be asked of."""
