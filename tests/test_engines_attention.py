"""A decoder around a kernel: right ones hold on every law, wrong ones give their smallest schedule.

Run alone: python -m pytest tests/test_engines_attention.py
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cachecheck.errors import DecoderError, TargetError
from cachecheck.guard import Guarded
from cachecheck.laws import LAWS
from cachecheck.reference import WRONG_MASKS
from cachecheck.search import search
from cachecheck.search.cases import Effort
from cachecheck.target import as_target, load_target
from cachecheck.verdict import Answer, Verdict

torch = pytest.importorskip("torch", reason="a kernel is torch's: the torch extra")

from torch.nn.attention import bias, flex_attention  # noqa: E402

from cachecheck.engines.attention import AttentionDecoder, plain  # noqa: E402
from cachecheck.engines.attention.kernel_call import KernelCall  # noqa: E402

pytestmark = pytest.mark.extras

EXAMPLE = Path(__file__).parent.parent / "examples" / "my_kernel.py"
OFFERED = (
    *("causality", "prefix", "determinism", "schedule", "frame", "sensitivity", "branch", "crop"),
    *("padding", "batch", "reorder", "programs"),
)
sdpa = torch.nn.functional.scaled_dot_product_attention


def masked(query: Any, key: Any, value: Any, call: KernelCall) -> Any:
    return sdpa(query, key, value, attn_mask=call.mask, enable_gqa=True)


def flagged(query: Any, key: Any, value: Any, _call: KernelCall) -> Any:
    return sdpa(query, key, value, is_causal=True, enable_gqa=True)


def lower_right(query: Any, key: Any, value: Any, call: KernelCall) -> Any:
    chunk = query.shape[2]
    corner = bias.causal_lower_right(chunk, call.past + chunk)
    return sdpa(query, key, value, attn_mask=corner, enable_gqa=True)


def from_the_end(query: Any, key: Any, value: Any, _call: KernelCall) -> Any:
    """Takes all rows of a batch to be as long as the longest."""
    chunk, keys = query.shape[2], key.shape[2]
    seen = torch.ones(chunk, keys, dtype=torch.bool).tril(keys - chunk)
    return sdpa(query, key, value, attn_mask=seen, enable_gqa=True)


def flex(query: Any, key: Any, value: Any, call: KernelCall) -> Any:
    positions, window = call.positions, call.window or 10**6

    def seen(batch: Any, _head: Any, row: Any, at: Any) -> Any:
        position = positions[batch, row]
        return (at <= position) & (position - at < window)

    blocks = flex_attention.create_block_mask(
        seen, len(positions), None, query.shape[2], key.shape[2], device="cpu"
    )
    return flex_attention.flex_attention(query, key, value, block_mask=blocks, enable_gqa=True)


def one_short(query: Any, key: Any, value: Any, call: KernelCall) -> Any:
    window = None if call.window is None else call.window - 1
    return masked(query, key, value, KernelCall(call.pasts, call.chunks, window, call.device))


def other_groups(query: Any, key: Any, value: Any, call: KernelCall) -> Any:
    """Query head h reads key head h % G."""
    times = query.shape[1] // key.shape[1]
    keys, values = key.repeat(1, times, 1, 1), value.repeat(1, times, 1, 1)
    return sdpa(query, keys, values, attn_mask=call.mask)


def unscaled(query: Any, key: Any, value: Any, call: KernelCall) -> Any:
    return sdpa(query, key, value, attn_mask=call.mask, enable_gqa=True, scale=1.0)


def writes_its_keys(query: Any, key: Any, value: Any, call: KernelCall) -> Any:
    mixed = masked(query, key, value, call)
    key[:, :, :1] += 1
    return mixed


@pytest.fixture(autouse=True)
def _plain_flex(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Uncompiled flex attention; by default it traces again for each new shape, and warns."""
    monkeypatch.setattr(flex_attention, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s).*flex_attention called without")
        yield


def made(attend: Any, **options: Any) -> Callable[[int], AttentionDecoder]:
    return lambda seed: AttentionDecoder(attend, seed=seed, **options)


def verdict(law: str, attend: Any, *, examples: int = 8, **options: Any) -> Verdict:
    target = as_target(made(attend, **options), "kernel")
    return search(LAWS[law], target, Effort(examples=examples))[0]


@pytest.mark.parametrize("law", OFFERED)
def test_a_right_kernel_holds_on_every_law(law: str) -> None:
    found = verdict(law, masked, examples=4)
    assert found.answer is Answer.HOLDS, found


@pytest.mark.parametrize("law", ["schedule", "window", "batch"])
def test_a_right_kernel_holds_with_a_window(law: str) -> None:
    assert verdict(law, masked, window=4).answer is Answer.HOLDS


@pytest.mark.parametrize(("law", "window"), [("schedule", None), ("schedule", 3), ("batch", 3)])
def test_flex_attention_holds(law: str, window: int | None) -> None:
    assert verdict(law, flex, window=window, examples=3).answer is Answer.HOLDS


@pytest.mark.parametrize("dtype", plain.DTYPES)
@pytest.mark.parametrize("positions", plain.POSITIONS)
def test_no_precision_or_kind_of_positions_is_accused(dtype: str, positions: str) -> None:
    found = verdict("batch", masked, dtype=dtype, positions=positions)
    # Over 24 tokens two exchanged ones move a row by less than a short type's rounding may.
    doubt = {Answer.INCONCLUSIVE} if dtype.endswith("16") else set()
    assert found.answer in {Answer.HOLDS, *doubt}, found


def test_a_lower_right_bias_holds_and_refuses_ragged_batches() -> None:
    assert verdict("schedule", lower_right, examples=20).answer is Answer.HOLDS
    assert verdict("crop", lower_right).answer is Answer.HOLDS
    guarded = Guarded(AttentionDecoder(lower_right))
    _, cache = guarded.extend_batch([[1, 2], [3]], guarded.new_batch_cache(2))
    with pytest.raises(NotImplementedError, match=r"asked for one past.* \(2, 1\)"):
        guarded.extend_batch([[1], [3]], cache)


@pytest.mark.parametrize(
    ("law", "attend", "options", "smallest"),
    [
        ("schedule", flagged, {}, "1+1"),
        ("schedule", one_short, {"window": 2}, "2"),
        ("schedule", other_groups, {}, "1"),
        ("schedule", unscaled, {}, "2"),
        ("batch", from_the_end, {}, None),
        ("schedule", writes_its_keys, {}, "1+1"),
    ],
)
def test_a_wrong_kernel_is_found_with_its_smallest_schedule(
    law: str, attend: Any, options: dict[str, Any], smallest: str | None
) -> None:
    found = verdict(law, attend, examples=30, **options)
    assert found.answer is Answer.VIOLATED, found
    assert smallest is None or found.schedule == smallest


@pytest.mark.parametrize(
    ("name", "window", "smallest"),
    [
        ("query-restart", None, "1+1"),
        ("offset-too-small", None, "1+1"),
        ("offset-too-large", None, "2"),
        ("no-chunk-mask", None, "2"),
        ("one-position", None, "2"),
        ("window-from-last-row", 2, "3"),
    ],
)
def test_each_wrong_mask_of_a_kernel_is_found_at_its_smallest(
    name: str, window: int | None, smallest: str
) -> None:
    def wrong(query: Any, key: Any, value: Any, call: KernelCall) -> Any:
        chunk = query.shape[2]
        at = call.past + np.arange(chunk)
        keys = np.arange(call.past + chunk)
        seen = WRONG_MASKS[name].rule(at, keys, window=call.window, sinks=0, last_chunk=chunk)
        return sdpa(query, key, value, attn_mask=torch.from_numpy(seen), enable_gqa=True)

    found = verdict("schedule", wrong, window=window, examples=30)
    assert (found.answer, found.schedule) == (Answer.VIOLATED, smallest)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_a_short_precision_hides_no_causal_flag(dtype: str) -> None:
    found = verdict("schedule", flagged, dtype=dtype)
    assert (found.answer, found.schedule) == (Answer.VIOLATED, "1+1")


def test_a_wrong_first_chunk_is_found_because_the_full_pass_does_not_use_the_kernel() -> None:
    calls: list[KernelCall] = []

    def counted(query: Any, key: Any, value: Any, call: KernelCall) -> Any:
        calls.append(call)
        return masked(query, key, value, call)

    decoder = AttentionDecoder(counted)
    decoder.full(np.arange(5))
    assert not calls
    decoder.extend(np.arange(5), decoder.new_cache())
    assert [(call.past, call.chunks) for call in calls] == [(0, (5,))] * 2  # two layers


def test_the_plain_attention_agrees_with_the_references_in_numpy() -> None:
    from cachecheck.reference.attention import attention

    rng = np.random.default_rng(0)
    query, key, value = (rng.normal(size=(heads, 5, 8)) for heads in (4, 2, 2))
    seen = np.tri(5, dtype=bool)
    due, _ = attention(query, key, value, seen)
    q, k, v = (torch.from_numpy(one)[None] for one in (query, key, value))
    got = plain.attention(q, k, v, torch.from_numpy(seen))[0].numpy()
    assert np.abs(got - due).max() < 1e-14


def test_masks_and_positions_of_a_ragged_batch_are_those_of_its_rows() -> None:
    call = KernelCall((0, 3), (2, 1), 3, "cpu")
    assert call.positions.tolist() == [[0, 1], [3, 3]]  # the second row of the second is padding
    assert call.mask.shape == (2, 1, 2, 4)
    seen = [["".join(".x"[key] for key in row) for row in one] for (one,) in call.mask.tolist()]
    assert seen == [["x...", "xx.."], [".xxx", ".xxx"]]


def test_a_seed_names_the_weights_and_float64_keeps_them() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    short = AttentionDecoder(masked, seed=3, dtype="bfloat16")
    assert torch.equal(torch.get_rng_state(), before)
    assert short.as_float64 is not None
    exact = short.as_float64()
    assert exact.as_float64 is None
    assert exact.full(np.arange(6)).dtype == np.float64
    difference = np.abs(short.full(np.arange(6)) - exact.full(np.arange(6))).max()
    assert 0 < difference < 0.2
    assert np.abs(AttentionDecoder(masked, seed=4).full([0]) - short.full([0])).max() > 0.5
    assert AttentionDecoder(masked, float64=False).as_float64 is None


def test_rows_are_of_order_one_and_show_a_changed_and_an_exchanged_token() -> None:
    for seed in range(5):
        decoder = AttentionDecoder(masked, seed=seed)
        last = decoder.full(np.arange(6))[-1]
        assert 1 < np.abs(last).max() < 6
        for other in ([0, 9, 2, 3, 4, 5], [0, 2, 1, 3, 4, 5]):
            assert np.abs(decoder.full(np.array(other))[-1] - last).max() > 0.05


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda q: q.transpose(1, 2), r"of shape \(1, 1, 4, 8\); expected .*\(1, 4, 1, 8\)"),
        (lambda q: q.double(), r"returned torch.float64 .*; expected torch.float32"),
        (lambda q: q * torch.nan, "returned NaN or infinity in batch row 0"),
        (lambda q: (q, None), "returned tuple; expected a tensor"),
        (lambda _: None, "returned NoneType; expected a tensor"),
    ],
)
def test_what_a_kernel_must_not_return_is_named(answer: Any, message: str) -> None:
    decoder = Guarded(AttentionDecoder(lambda query, _key, _value, _call: answer(query)))
    with pytest.raises(DecoderError, match=message):
        decoder.extend([0], decoder.new_cache())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"attend": "sdpa"}, "attend is str; expected a function"),
        ({"heads": 3}, "heads=3 must be a multiple of key_value_heads=2"),
        ({"layers": 0}, "layers=0 must be an integer >= 1"),
        ({"window": 0}, "window=0 must be an integer >= 1"),
        ({"head_width": 5}, "an even head_width; got 5"),
        ({"dtype": "int8"}, "dtype='int8' must be one of"),
        ({"positions": "alibi"}, "positions='alibi' must be one of"),
    ],
)
def test_what_does_not_fit_together_is_refused_in_one_line(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(TargetError, match=message) as caught:
        AttentionDecoder(**{"attend": masked, **options})
    assert "\n" not in str(caught.value)


def test_the_example_holds_and_its_causal_flag_does_not() -> None:
    answers = {
        name: search(LAWS["schedule"], load_target(f"{EXAMPLE}:{name}"), Effort(examples=10))[0]
        for name in ("right", "causal_flag")
    }
    assert answers["right"].answer is Answer.HOLDS
    assert (answers["causal_flag"].answer, answers["causal_flag"].schedule) == (
        Answer.VIOLATED,
        "1+1",
    )
