"""torch's attention as it is, under the strategies: what is right, what is documented, what is not.

Everything runs on the CPU and against `AttentionProblem.attend` in float64. What deviates is pinned
as an expected failure or by its smallest case; `evidence/findings/torch-*` has each as a few lines
of plain torch. Run alone: python -m pytest tests/test_torch_attention.py
"""

from __future__ import annotations

import contextlib
import re
import runpy
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cachecheck import strategies as cs
from cachecheck.strategies import AttentionProblem, RaggedBatch
from tests.helpers import minimal

torch = pytest.importorskip("torch", reason="torch's own attention: the torch extra")

from torch.nn.attention import SDPBackend, bias, flex_attention, sdpa_kernel  # noqa: E402

pytestmark = pytest.mark.extras

sdpa = torch.nn.functional.scaled_dot_product_attention
BACKENDS = {"as torch chooses": None, "math": SDPBackend.MATH, "flash": SDPBackend.FLASH_ATTENTION}
# Rows are of order one; a mask that is one key off moves them by 0.01 and more.
TOLERANCES = {"float64": 1e-12, "float32": 5e-6, "bfloat16": 3e-2, "float16": 5e-3}
VISIBLE = 0.01
WINDOWS = st.none() | cs.windows()
LAYOUTS = ("contiguous", "part of a buffer", "tokens before heads")


def laid_out(tensor: Any, layout: str) -> Any:
    """The same numbers in another place: as a cache hands out its filled part, or a projection."""
    if layout == "contiguous":
        return tensor
    if layout == "tokens before heads":
        return tensor.transpose(1, 2).contiguous().transpose(1, 2)
    batch, heads, length, width = tensor.shape
    buffer = torch.full((batch, heads, length + 5, width), 1e3, dtype=tensor.dtype)
    buffer[:, :, :length] = tensor
    return buffer[:, :, :length]


def tensors(problem: AttentionProblem, dtype: str = "float64", layout: str = LAYOUTS[0]) -> Any:
    """Query (1, H, T, D), key and value (1, G, S, D)."""
    arrays = (problem.query, problem.key, problem.value)
    kind = getattr(torch, dtype)
    return [laid_out(torch.from_numpy(array)[None].to(kind), layout) for array in arrays]


def rounded(problem: AttentionProblem, dtype: str) -> AttentionProblem:
    """The problem as it is in a precision that numpy may not have."""
    query, key, value = (one[0].double().numpy() for one in tensors(problem, dtype))
    return problem._replace(query=query, key=key, value=value)


def additive(mask: Any, dtype: str, least: float | None = None) -> Any:
    """A float mask: 0 where a key is seen, else -inf or ``least``."""
    hidden = -torch.inf if least is None else least
    return torch.zeros(mask.shape, dtype=getattr(torch, dtype)).masked_fill(~mask, hidden)


def backend(name: str) -> contextlib.AbstractContextManager[Any]:
    chosen = BACKENDS[name]
    return contextlib.nullcontext() if chosen is None else sdpa_kernel(chosen)


def error(rows: Any, due: Any) -> float:
    """The largest difference; NaN counts as infinite."""
    assert rows.shape == due.shape
    difference = np.abs(rows.double().numpy() - due)
    return float(np.nan_to_num(difference, nan=np.inf).max(initial=0.0))


def sizes(problem: AttentionProblem) -> tuple[int, int, int | None]:
    return problem.past, len(problem.query_positions), problem.window


# --- scaled_dot_product_attention ---


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("name", BACKENDS)
@given(
    problem=cs.offset_masks(windows=WINDOWS, max_past=20),
    layout=st.sampled_from(LAYOUTS),
    form=st.tuples(
        st.sampled_from(["bool", "-inf", "least"]),
        st.sampled_from(["(T, S)", "(1, 1, T, S)", "(1, H, T, S)"]),
    ),
)
def test_an_explicit_mask_of_any_kind_gives_the_right_rows(
    name: str, dtype: str, problem: AttentionProblem, layout: str, form: tuple[str, str]
) -> None:
    kind, shape = form
    mask = torch.from_numpy(problem.mask)
    if kind != "bool":
        least = None if kind == "-inf" else torch.finfo(getattr(torch, dtype)).min
        mask = additive(mask, dtype, least)
    if shape != "(T, S)":
        mask = mask[None, None].expand(1, len(problem.query) if "H" in shape else 1, -1, -1)
    with backend(name):
        rows = sdpa(*tensors(problem, dtype, layout), attn_mask=mask, enable_gqa=True)[0]
    assert error(rows, rounded(problem, dtype).attend()) < TOLERANCES[dtype]


LONG = cs.offset_masks(windows=st.integers(1, 40), max_past=1200, max_chunk=3, head_width=4)


@pytest.mark.parametrize("name", BACKENDS)
@given(problem=LONG, kind=st.sampled_from(["bool", "-inf"]))
def test_few_queries_over_more_keys_than_a_block_of_the_kernel_has_see_their_window(
    name: str, problem: AttentionProblem, kind: str
) -> None:
    """The flash kernel takes keys 512 at a time, and here whole blocks are hidden."""
    mask = torch.from_numpy(problem.mask)
    with backend(name):
        rows = sdpa(
            *tensors(problem, "float32"),
            attn_mask=mask if kind == "bool" else additive(mask, "float32"),
            enable_gqa=True,
        )[0]
    assert error(rows, rounded(problem, "float32").attend()) < TOLERANCES["float32"]


@pytest.mark.parametrize("name", BACKENDS)
@given(batch=cs.ragged_batches(windows=WINDOWS), layout=st.sampled_from(LAYOUTS))
def test_a_ragged_batch_gives_each_sequence_its_own_rows(
    name: str, batch: RaggedBatch, layout: str
) -> None:
    arrays = (batch.query, batch.key, batch.value)
    query, key, value = (laid_out(torch.from_numpy(one), layout) for one in arrays)
    with backend(name):
        rows = sdpa(query, key, value, attn_mask=torch.from_numpy(batch.mask), enable_gqa=True)
    assert not rows.isnan().any()  # also at pads, which see nothing
    assert not rows[torch.from_numpy(batch.query_padding)[:, None].expand(rows.shape[:3])].any()
    for got, due in zip(batch.real(rows.numpy()), batch.attend(), strict=True):
        assert np.abs(got - due).max() < TOLERANCES["float64"]


@pytest.mark.parametrize("name", BACKENDS)
@given(cs.offset_masks(max_groups=1))
def test_expanded_keys_are_as_good_as_copied_ones(name: str, problem: AttentionProblem) -> None:
    query, key, value = tensors(problem)
    heads = query.shape[1]
    mask = torch.from_numpy(problem.mask)
    with backend(name):
        rows = sdpa(query, *(one.expand(1, heads, -1, -1) for one in (key, value)), attn_mask=mask)
    assert error(rows[0], problem.attend()) < TOLERANCES["float64"]


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize("keys", [0, 1, 17, 1100])
def test_a_row_that_sees_nothing_is_zero_on_every_backend(keys: int, name: str, dtype: str) -> None:
    query, key = torch.ones(1, 1, 2, 8), torch.ones(1, 1, keys, 8)
    mask = torch.zeros(2, keys, dtype=torch.bool)
    given_tensors = [one.to(getattr(torch, dtype)) for one in (query, key, key)]
    with backend(name):
        for hidden in (mask, additive(mask, dtype)):
            assert not sdpa(*given_tensors, attn_mask=hidden).any()


@pytest.mark.parametrize("name", BACKENDS)
def test_the_causal_flag_aligns_upper_left_as_documented_and_hides_the_history(name: str) -> None:
    def wrong(problem: AttentionProblem) -> bool:
        with backend(name):
            rows = sdpa(*tensors(problem), is_causal=True, enable_gqa=True)[0]
        upper_left = problem.attend(np.tri(*problem.mask.shape, dtype=np.bool_))
        assert error(rows, upper_left) < TOLERANCES["float64"]
        return error(rows, problem.attend()) > VISIBLE

    assert sizes(minimal(cs.offset_masks(), wrong)) == (1, 1, None)


def test_grouped_heads_need_their_flag() -> None:
    problem = minimal(cs.offset_masks(), lambda drawn: len(drawn.query) > len(drawn.key) > 1)
    with pytest.raises(RuntimeError, match="must match the size"):
        sdpa(*tensors(problem), attn_mask=torch.from_numpy(problem.mask))


# --- where it is wrong: expected failures, found by the strategies ---


def with_a_float32_mask(problem: AttentionProblem) -> float:
    mask = additive(torch.from_numpy(problem.mask), "float32")
    rows = sdpa(*tensors(problem), attn_mask=mask, enable_gqa=True)[0]
    return error(rows, problem.attend())


@pytest.mark.xfail(raises=AssertionError, reason="findings/torch-sdpa-float32-mask: half skipped")
@given(cs.offset_masks(max_past=40))
def test_float64_queries_take_a_float32_mask(problem: AttentionProblem) -> None:
    assert with_a_float32_mask(problem) < TOLERANCES["float64"]


def test_a_float32_mask_goes_wrong_from_as_many_keys_as_a_vector_holds() -> None:
    tokens = cs.offset_masks(max_past=40, max_chunk=1)
    problem = minimal(tokens, lambda drawn: with_a_float32_mask(drawn) > VISIBLE)
    assert problem.past + 1 in {4, 8, 16}  # floats in a vector: NEON, AVX2, AVX-512


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize("keys", [1, 64])
def test_a_query_of_nan_gives_nan(keys: int, name: str, request: pytest.FixtureRequest) -> None:
    if name != "math" and keys == 1:
        reason = "findings/torch-sdpa-nan-query: zeros while the keys fill no vector"
        request.applymarker(pytest.mark.xfail(raises=AssertionError, reason=reason))
    key = torch.ones(1, 1, keys, 8)
    with backend(name):
        rows = sdpa(torch.full((1, 1, 1, 8), torch.nan), key, key)
    assert rows.isnan().all()


@pytest.mark.xfail(raises=IndexError, reason="findings/torch-sdpa-1d-mask: documented to broadcast")
def test_a_mask_of_one_dimension_broadcasts() -> None:
    one = torch.ones(1, 1, 1, 8)
    sdpa(one, one, one, attn_mask=torch.ones(1, dtype=torch.bool))


# --- torch.nn.attention.bias ---


@pytest.mark.parametrize("dtype", TOLERANCES)
@given(problem=cs.offset_masks(), layout=st.sampled_from(LAYOUTS))
def test_a_lower_right_bias_is_right_for_a_chunk_on_a_history(
    dtype: str, problem: AttentionProblem, layout: str
) -> None:
    corner = bias.causal_lower_right(*problem.mask.shape)
    rows = sdpa(*tensors(problem, dtype, layout), attn_mask=corner, enable_gqa=True)[0]
    assert error(rows, rounded(problem, dtype).attend()) < TOLERANCES[dtype]


@given(cs.offset_masks())
def test_an_upper_left_bias_is_the_causal_flag(problem: AttentionProblem) -> None:
    corner = bias.causal_upper_left(*problem.mask.shape)
    rows = sdpa(*tensors(problem), attn_mask=corner, enable_gqa=True)
    assert torch.equal(rows, sdpa(*tensors(problem), is_causal=True, enable_gqa=True))


def test_a_lower_right_bias_with_fewer_keys_warns_of_nan_and_gives_zeros() -> None:
    with pytest.warns(UserWarning, match="will produce NaNs"):
        corner = bias.causal_lower_right(3, 2)
    query, key = torch.ones(1, 1, 3, 8), torch.ones(1, 1, 2, 8)
    assert sdpa(query, key, key, attn_mask=corner)[0, 0, :, 0].tolist() == [0, 1, 1]


@pytest.mark.xfail(raises=AssertionError, reason="findings/torch-causal-bias-sizes: not looked at")
def test_a_bias_of_another_size_is_refused_or_right() -> None:
    problem = minimal(cs.offset_masks(), lambda drawn: drawn.past > 0)
    corner = bias.causal_lower_right(*[problem.past + 1] * 2)  # of the whole sequence so far
    try:
        rows = sdpa(*tensors(problem), attn_mask=corner)[0]
    except (RuntimeError, ValueError):
        return  # as a plain tensor of that size is
    assert error(rows, problem.attend()) < TOLERANCES["float64"]


# --- flex attention, uncompiled ---


@pytest.fixture
def _uncompiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """By default it traces again for each new shape, and warns."""
    monkeypatch.setattr(flex_attention, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s).*flex_attention called without")
        yield


def flex(problem: AttentionProblem, way: str, dtype: str, layout: str) -> Any:
    past, window = problem.past, problem.window or 10**6

    def seen(_batch: Any, _head: Any, row: Any, key: Any) -> Any:
        return (key <= past + row) & (past + row - key < window)

    def score(value: Any, batch: Any, head: Any, row: Any, key: Any) -> Any:
        return torch.where(seen(batch, head, row, key), value, -torch.inf)

    options: dict[str, Any] = {"score_mod": score}
    if way == "blocks":
        shape = problem.mask.shape
        mask = flex_attention.create_block_mask(seen, None, None, *shape, device="cpu")
        options = {"block_mask": mask}
    elif way == "both":
        shape = problem.mask.shape
        mask = flex_attention.create_block_mask(seen, 1, len(problem.query), *shape, device="cpu")
        options["block_mask"] = mask
    given_tensors = tensors(problem, dtype, layout)
    return flex_attention.flex_attention(*given_tensors, enable_gqa=True, **options)[0]


FLEXIBLE = settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.usefixtures("_uncompiled")
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize("way", ["blocks", "scores", "both"])
@FLEXIBLE
@given(problem=cs.offset_masks(windows=WINDOWS), layout=st.sampled_from(LAYOUTS))
def test_flex_attention_is_right_by_mask_and_by_score(
    way: str, dtype: str, problem: AttentionProblem, layout: str
) -> None:
    rows = flex(problem, way, dtype, layout)
    assert error(rows, rounded(problem, dtype).attend()) < TOLERANCES[dtype]


@pytest.mark.usefixtures("_uncompiled")
@pytest.mark.parametrize("way", ["blocks", "scores"])
@FLEXIBLE
@given(cs.offset_masks(windows=st.integers(1, 40), max_past=500, max_chunk=3, head_width=4))
def test_flex_attention_is_right_for_few_queries_over_several_blocks_of_keys(
    way: str, problem: AttentionProblem
) -> None:
    rows = flex(problem, way, "float64", LAYOUTS[0])
    assert error(rows, problem.attend()) < TOLERANCES["float64"]


@pytest.mark.usefixtures("_uncompiled")
@FLEXIBLE
@given(batch=cs.ragged_batches(windows=WINDOWS, max_rows=2))
def test_flex_attention_gives_each_sequence_of_a_ragged_batch_its_own_rows(
    batch: RaggedBatch,
) -> None:
    mask = torch.from_numpy(batch.mask)

    def seen(at: Any, _head: Any, row: Any, key: Any) -> Any:
        return mask[at, 0, row, key]

    shape = (len(mask), None, *mask.shape[2:])
    blocks = flex_attention.create_block_mask(seen, *shape, device="cpu")
    arrays = [torch.from_numpy(one) for one in (batch.query, batch.key, batch.value)]
    rows = flex_attention.flex_attention(*arrays, block_mask=blocks, enable_gqa=True).numpy()
    assert not np.isnan(rows).any()  # rows that see nothing are zero, as elsewhere
    for got, due in zip(batch.real(rows), batch.attend(), strict=True):
        assert np.abs(got - due).max() < TOLERANCES["float64"]


@pytest.mark.usefixtures("_uncompiled")
def test_flex_attention_refuses_no_keys_and_blocks_of_another_size() -> None:
    query, key = torch.ones(1, 1, 2, 8), torch.ones(1, 1, 3, 8)
    with pytest.raises(IndexError, match="non-zero size"):
        flex_attention.flex_attention(query, key[:, :, :0], key[:, :, :0])
    for shape in ((2, 2), (2, 4), (1, 3), (3, 3)):
        blocks = flex_attention.create_block_mask(
            lambda _b, _h, _row, key: key >= 0, 1, 1, *shape, "cpu"
        )
        with pytest.raises(ValueError, match="block_mask was created for"):
            flex_attention.flex_attention(query, key, key, block_mask=blocks)


@pytest.mark.xfail(raises=AssertionError, reason="findings/torch-flex-blocks: only mask_mod counts")
@pytest.mark.usefixtures("_uncompiled")
def test_uncompiled_flex_attention_looks_at_the_blocks_alone() -> None:
    query, key = torch.ones(1, 1, 1, 8), torch.ones(1, 1, 256, 8)
    value = torch.arange(256.0)[:, None].expand(1, 1, 256, 8)
    second = flex_attention.BlockMask.from_kv_blocks(
        torch.ones(1, 1, 1, dtype=torch.int32),
        torch.tensor([[[[1, 0]]]], dtype=torch.int32),
        seq_lengths=(1, 256),
    )
    assert second.to_dense().tolist() == [[[[0, 1]]]]
    rows = flex_attention.flex_attention(query, key, value, block_mask=second)
    assert error(rows[0], value[:, 0, 128:].mean(1, keepdim=True).numpy()) < 1e-3


# --- MultiheadAttention ---


def module(heads: int, width: int, *, fast: bool) -> Any:
    """With identities for projections, so that it is attention over its arguments' heads."""
    torch.backends.mha.set_fastpath_enabled(fast)
    made = torch.nn.MultiheadAttention(heads * width, heads, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        made.in_proj_weight.copy_(torch.eye(heads * width, dtype=torch.float64).repeat(3, 1))
        made.out_proj.weight.copy_(torch.eye(heads * width))
    return made.eval()


@pytest.fixture(autouse=True)
def _fast_path_as_it_was() -> Iterator[None]:
    before = torch.backends.mha.get_fastpath_enabled()
    yield
    torch.backends.mha.set_fastpath_enabled(before)


def joined(heads: Any) -> Any:
    """(B, H, T, D) -> (B, T, H x D), as the module takes it."""
    return torch.from_numpy(heads).transpose(1, 2).flatten(2)


def parted(rows: Any, heads: int) -> Any:
    """(B, T, H x D) -> (B, H, T, D)."""
    return rows.detach().unflatten(2, (heads, -1)).transpose(1, 2).numpy()


# An even number of heads, as many for keys as for queries: what the fast path takes.
SELF = cs.ragged_batches(windows=WINDOWS, max_past=0, max_heads_per_group=1)


@pytest.mark.parametrize("weights", [True, False])
@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("fast", [True, False])
@settings(max_examples=20)
@given(batch=SELF, kind=st.sampled_from(["bool", "-inf"]))
def test_multihead_self_attention_agrees_on_all_its_paths(
    fast: bool, grad: bool, weights: bool, batch: RaggedBatch, kind: str
) -> None:
    heads, width = batch.query.shape[1], batch.query.shape[3]
    given_rows = joined(batch.query)
    length = given_rows.shape[1]
    hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
    if batch.problems[0].window is not None:
        hidden |= torch.ones(length, length, dtype=torch.bool).tril(-batch.problems[0].window)
    padding = torch.from_numpy(batch.query_padding)
    if kind == "-inf":
        hidden, padding = additive(~hidden, "float64"), additive(~padding, "float64")
    made = module(heads, width, fast=fast)
    with torch.set_grad_enabled(grad):
        rows, share = made(
            *[given_rows] * 3, attn_mask=hidden, key_padding_mask=padding, need_weights=weights
        )
    assert (share is None) != weights
    for at, problem in enumerate(batch.problems):
        alone = problem._replace(key=problem.query, value=problem.query)
        got = batch.real(parted(rows, heads))[at]
        assert np.abs(got - alone.attend()).max() < TOLERANCES["float64"]


CACHED = cs.ragged_batches(windows=WINDOWS, max_heads_per_group=1)


@pytest.mark.parametrize("weights", [True, False])
@given(batch=CACHED, with_padding=st.booleans())
def test_multihead_attention_over_a_cache_takes_a_mask_for_each_row_and_head(
    weights: bool, batch: RaggedBatch, with_padding: bool
) -> None:
    heads, width = batch.query.shape[1], batch.query.shape[3]
    hidden = ~torch.from_numpy(batch.mask).expand(-1, heads, -1, -1).flatten(0, 1)
    padding = torch.from_numpy(batch.key_padding) if with_padding else None
    arguments = [joined(one) for one in (batch.query, batch.key, batch.value)]
    rows, _ = module(heads, width, fast=True)(
        *arguments, attn_mask=hidden, key_padding_mask=padding, need_weights=weights
    )
    for got, due in zip(batch.real(parted(rows, heads)), batch.attend(), strict=True):
        assert np.abs(got - due).max() < TOLERANCES["float64"]


def hinted(problem: AttentionProblem, *, weights: bool) -> float:
    heads, _, width = problem.query.shape
    arguments = [joined(one[None]) for one in (problem.query, problem.key, problem.value)]
    rows, _ = module(heads, width, fast=False)(
        *arguments,
        attn_mask=~torch.from_numpy(problem.mask),
        is_causal=True,
        need_weights=weights,
    )
    return error(torch.from_numpy(parted(rows, heads))[0], problem.attend())


def test_the_causal_hint_replaces_the_mask_given_unless_weights_are_asked_for() -> None:
    """As documented: it is a hint that the mask is causal, and one of sdpa's (upper left)."""
    problems = cs.offset_masks(max_heads_per_group=1)
    wrong = minimal(problems, lambda one: hinted(one, weights=False) > VISIBLE)
    assert sizes(wrong) == (1, 1, None)
    assert hinted(wrong, weights=True) < TOLERANCES["float64"]


@pytest.mark.xfail(raises=AssertionError, reason="findings/torch-mha-empty-rows: NaN or zeros")
def test_a_row_that_sees_nothing_is_the_same_on_all_paths() -> None:
    empty = torch.ones(1, 1, 2, dtype=torch.float64)
    hidden = torch.ones(1, 1, dtype=torch.bool)
    answers = set()
    for fast, weights in ((True, False), (False, False), (False, True)):
        with torch.no_grad():
            rows, _ = module(2, 1, fast=fast)(*[empty] * 3, attn_mask=hidden, need_weights=weights)
        answers.add(str(rows.flatten().tolist()))
    assert len(answers) == 1, answers


# --- the findings ---

FINDINGS = sorted((Path(__file__).parent.parent / "evidence" / "findings").glob("torch-*"))


@pytest.mark.parametrize("folder", FINDINGS, ids=lambda folder: folder.name)
def test_each_finding_is_borne_out_by_a_few_lines_of_plain_torch(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = folder / "reproduction.py"
    text = program.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 20
    assert "cachecheck" not in text
    before = torch.get_rng_state()
    with warnings.catch_warnings(), pytest.raises(SystemExit) as ended:
        runpy.run_path(str(program), run_name="__main__")
    torch.set_rng_state(before)
    assert ended.value.code == 1
    assert torch.__version__ in capsys.readouterr().out


def test_each_expected_failure_has_its_finding() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    named = set(re.findall(r'"findings/(torch-[a-z0-9-]+):', text))
    assert named == {folder.name for folder in FINDINGS}
