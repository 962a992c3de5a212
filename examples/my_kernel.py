"""An attention kernel put to the test: bring the function, the decoder and its cache come along.

    cachecheck fuzz examples/my_kernel.py:right
    cachecheck fuzz examples/my_kernel.py:causal_flag

The second is VIOLATED at 1+1: with fewer queries than keys `is_causal=True` aligns its mask with
the upper left corner, so that a token sees the first keys of the history and not the last.
"""

from torch.nn.functional import scaled_dot_product_attention

from cachecheck.engines.attention import AttentionDecoder


def masked(query, key, value, call):
    return scaled_dot_product_attention(query, key, value, attn_mask=call.mask, enable_gqa=True)


def flagged(query, key, value, _call):
    return scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)


def right(seed):
    return AttentionDecoder(masked, seed=seed)


def causal_flag(seed):
    return AttentionDecoder(flagged, seed=seed)
