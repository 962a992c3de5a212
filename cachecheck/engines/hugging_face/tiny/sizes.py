"""Sizes of a tiny model, in the library's own words: one value for each name of a size.

A configuration takes those of these that it has fields for. The library has many names for one
thing, so what matters is the value: rows of 32, 4 heads of 8, 2 heads of keys and values, 32
tokens, 64 positions, windows of 6, 4 experts of which 2 are used.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

WIDTH, WINDOW, TOKENS, POSITIONS = 32, 6, 32, 64
_HEADS, _KEY_HEADS, _HEAD_WIDTH = 4, 2, 8
_INNER, _EXPERT = 64, 32


def _each(names: str, value: Any) -> dict[str, Any]:
    return dict.fromkeys(names.split(), value)


SIZES: Mapping[str, Any] = MappingProxyType(
    {
        **_each("vocab_size vocab_size_per_layer_input unpadded_vocab_size", TOKENS),
        **_each(
            "hidden_size d_model n_embd emb_dim embedding_size word_embed_proj_dim lru_width "
            "input_embedding_size output_embedding_size embedding_dim backbone_hidden_size",
            WIDTH,
        ),
        **_each(
            "num_attention_heads n_head n_heads num_heads decoder_attention_heads attention_heads "
            "encoder_attention_heads num_encoder_attention_heads num_decoder_attention_heads "
            "swa_num_attention_heads linear_num_heads linear_num_value_heads",
            _HEADS,
        ),
        **_each(
            "num_key_value_heads num_kv_heads swa_num_key_value_heads linear_num_key_heads "
            "index_n_heads",
            _KEY_HEADS,
        ),
        **_each(
            "head_dim swa_head_dim v_head_dim qk_nope_head_dim d_head attention_head_size dim_head "
            "kv_channels attention_head_dim index_head_dim linear_key_head_dim linear_head_dim "
            "linear_value_head_dim query_pre_attn_scalar",
            _HEAD_WIDTH,
        ),
        **_each("qk_rope_head_dim rotary_dim", _HEAD_WIDTH // 2),
        **_each("kv_lora_rank q_lora_rank", 16),
        **_each(
            "num_hidden_layers n_layer n_layers num_layers decoder_layers encoder_layers "
            "num_encoder_layers num_decoder_layers",
            2,
        ),
        **_each(
            "intermediate_size decoder_ffn_dim encoder_ffn_dim ffn_dim ffn_hidden_size n_inner "
            "d_inner dff dim_ff feed_forward_size intermediate_size_mlp dense_intermediate_size "
            "prefix_dense_intermediate_size mamba_d_ssm router_hidden_size",
            _INNER,
        ),
        **_each(
            "moe_intermediate_size shared_expert_intermediate_size shared_intermediate_size "
            "shared_experts_intermediate_size moe_shared_expert_intermediate_size "
            "expert_ffn_hidden_size",
            _EXPERT,
        ),
        **_each("num_experts n_routed_experts num_local_experts moe_num_experts", 4),
        **_each("num_experts_per_tok moe_topk moe_k top_k_experts", 2),
        **_each("n_group topk_group", 1),
        **_each(
            "max_position_embeddings n_positions n_ctx max_seq_len max_target_positions "
            "max_source_positions context_length original_max_position_embeddings",
            POSITIONS,
        ),
        **_each(
            "sliding_window sliding_window_size window_size attention_window_size local_attention "
            "attention_chunk_size",
            WINDOW,
        ),
        # Rows and scores of order one: see the package.
        **_each("initializer_range init_std embed_init_std", WIDTH**-0.5),
        # The defaults lie beyond 32 tokens, or make an ordinary token mean padding or an end.
        **_each("bos_token_id eos_token_id pad_token_id sep_token_id", None),
        # Recurrent layers, whose inner width is twice the width; chunks of the scan are crossed.
        **_each("state_size mamba_d_state ssm_state_size", 8),
        **_each("time_step_rank mamba_dt_rank mamba_n_heads n_mamba_heads mamba_num_heads", 4),
        **_each("mamba_d_head mamba_head_dim", 16),
        **_each("mamba_n_groups n_groups mamba_ngroups", 1),
        # Steps of order one: states move rows, and a limit on steps is in force.
        "time_step_min": 0.1,
        "time_step_max": 1.0,
        **_each("mamba_chunk_size chunk_size", 4),
        # Parts that bring other inputs than tokens: built, since the class asks for them; not used.
        **_each("image_size", 16),
        **_each("patch_size", 4),
        "hidden_size_per_layer_input": _HEAD_WIDTH,
        "rel_extent": 16,
        "type_vocab_size": 2,
    }
)
"""Name of a configuration's field -> its value in a tiny model."""
