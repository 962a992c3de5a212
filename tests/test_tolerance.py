"""How close is equal: the bounds, their scale, and the precision that rows carry."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cachecheck import strategies as cs
from cachecheck.errors import InputError
from cachecheck.reference import WRONG_MASKS, Config, ReferenceDecoder, by_chunks
from cachecheck.tolerance import RELATIVE, bounds, dtype_name, precision_of, typical


def test_an_entry_is_bounded_by_its_own_size_or_the_typical_one() -> None:
    rows = np.linspace(-1, 1, 21).reshape(3, 7)  # 0.9 quantile of magnitudes: 0.9 or so
    found = bounds(rows, "float64")
    assert found.shape == rows.shape
    assert found.max() == 1e-12
    assert found.min() == pytest.approx(1e-12 * typical(rows))
    assert bounds(1000 * rows, "float32").max() == pytest.approx(3e-2)
    assert np.all(bounds(rows, "float64", atol=0.1) == 0.1)
    assert np.all(bounds(rows, "float64", typical_entry=5.0) == 5e-12)
    assert np.all(bounds(0 * rows, "float64") == 0)


def test_a_few_huge_columns_or_rows_do_not_hide_the_others() -> None:
    rows = np.random.default_rng(0).normal(size=(24, 50))
    padded, massive = rows.copy(), rows.copy()
    padded[:, -4:] = -1e9
    massive[0] *= 1000
    for spoilt in (padded, massive):
        found = bounds(spoilt, "float32")
        assert found[5, 5] < 10 * bounds(rows, "float32")[5, 5]
        assert found.max() > 1e-2
    one_hot = np.eye(24)
    assert np.all(bounds(one_hot, "float64") == 1e-12)


@pytest.mark.parametrize(
    ("dtype", "name"),
    [("float32", "float32"), (np.float64, "float64"), (np.dtype("f2"), "float16"),
     ("torch.bfloat16", "bfloat16")],
)  # fmt: skip
def test_precisions_are_known_by_any_of_their_names(dtype: Any, name: str) -> None:
    assert dtype_name(dtype) == name


@pytest.mark.parametrize("dtype", ["int8", "f128", 3, "torch.int64"])
def test_other_precisions_are_refused(dtype: Any) -> None:
    with pytest.raises(InputError, match="dtype must be one of float64, float32"):
        dtype_name(dtype)


def narrowed(rows: Any, name: str) -> Any:
    """``rows`` rounded to a precision and widened again, as adapters do."""
    if name == "bfloat16":
        bits = rows.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
        return bits.view(np.float32).astype(np.float64)
    return rows.astype(name).astype(np.float64)


@given(cs.seeds(max_value=2**16), st.sampled_from(sorted(RELATIVE)))
def test_widened_rows_show_the_precision_they_were_rounded_to(seed: int, name: str) -> None:
    rows = np.random.default_rng(seed).normal(size=(16, 4))
    assert precision_of(narrowed(rows, name)) == name


def test_whole_numbers_and_few_values_prove_nothing() -> None:
    assert precision_of(np.arange(40.0).reshape(10, 4)) == "float64"
    assert precision_of(np.full((4, 4), 0.5)) == "float64"


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_bound_lies_between_rounding_and_the_wrong_masks(dtype: Any) -> None:
    """Rounding at most a tenth of the bound, every wrong mask at least ten times the bound."""
    noise, signal = 0.0, np.inf
    for seed in range(10):
        decoder = ReferenceDecoder(Config(dtype=dtype, window=8, heads=2, layers=3), seed=seed)
        tokens = np.random.default_rng(seed).integers(0, 32, 24)
        chunks = [5, 3, 7, 9]
        rows = decoder.full(tokens)
        bound = bounds(rows, dtype)
        right = by_chunks(decoder.weights, tokens, chunks).rows
        noise = max(noise, float((np.abs(right - rows) / bound).max()))
        for wrong in WRONG_MASKS.values():
            try:
                spoilt = by_chunks(decoder.weights, tokens, chunks, mask_rule=wrong.rule).rows
            except InputError:
                continue  # a row without any key: seen without any tolerance
            signal = min(signal, float((np.abs(spoilt - rows) / bound).max()))
    assert noise < 0.1
    assert signal > 10
