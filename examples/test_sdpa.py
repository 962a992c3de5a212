"""cachecheck's strategies in somebody else's test: torch's attention on new rows over old keys.

Run with: pytest examples/test_sdpa.py. The first test fails, and should: ``is_causal=True`` aligns
its mask with the top left corner, which is right for a first chunk alone.
"""

import torch
from hypothesis import given
from torch.nn.functional import scaled_dot_product_attention

from cachecheck import strategies as cs


def tensors(problem):
    return [torch.from_numpy(array) for array in (problem.query, problem.key, problem.value)]


@given(cs.offset_masks())
def test_the_causal_flag_is_enough_for_a_chunk(problem):
    rows = scaled_dot_product_attention(*tensors(problem), is_causal=True, enable_gqa=True)
    assert abs(rows.numpy() - problem.attend()).max() < 1e-12


@given(cs.offset_masks())
def test_an_explicit_offset_mask_is_right(problem):
    mask = torch.from_numpy(problem.mask)
    rows = scaled_dot_product_attention(*tensors(problem), attn_mask=mask, enable_gqa=True)
    assert abs(rows.numpy() - problem.attend()).max() < 1e-12
