"""The Hugging Face adapter's batches, rollbacks and refusals, each by the library's own methods.

Run alone: python -m pytest -m extras tests/test_engines_batches.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="the adapter needs torch: the transformers extra")
pytest.importorskip("transformers", reason="the adapter needs transformers")

from cachecheck.engines.hugging_face import HuggingFaceDecoder
from cachecheck.engines.hugging_face.padded_cache import PaddedCache
from cachecheck.engines.hugging_face.variants import VARIANTS
from cachecheck.errors import Unsupported

pytestmark = pytest.mark.extras

NAMES = ("llama", "gpt2", "gemma2", "bloom", "mamba2", "qwen3_next")


def close(rows: Any, due: Any) -> None:
    """Equal but for rounding in float32."""
    assert np.abs(np.asarray(rows) - due).max() < 1e-4


def decoder(name: str, variant: str = "dynamic") -> HuggingFaceDecoder:
    return VARIANTS[variant].decoder(name, 0)


@pytest.mark.parametrize("name", NAMES)
def test_a_row_in_a_padded_batch_is_what_it_is_alone(name: str) -> None:
    model = decoder(name)
    rows, cache = model.extend_batch([[1, 2, 3], [4]], model.new_batch_cache(2))
    more, _ = model.extend_batch([[5, 6], [7, 8]], cache)
    for row, whole in enumerate(([1, 2, 3, 5, 6], [4, 7, 8])):
        got = np.concatenate([rows[row], more[row]])
        close(got, model.full(whole))
    for got, whole in zip(model.full_batch([[1, 2, 3], [4]]), ([1, 2, 3], [4]), strict=True):
        close(got, model.full(whole))


@pytest.mark.parametrize("name", NAMES)
def test_rows_change_places_and_are_repeated_as_beams_are(name: str) -> None:
    model = decoder(name)
    _, cache = model.extend_batch([[1, 2, 3], [4]], model.new_batch_cache(2))
    cache = model.reorder(cache, (1, 1, 0))
    rows, _ = model.extend_batch([[5], [6], [5]], cache)
    for got, whole in zip(rows, ([4, 5], [4, 6], [1, 2, 3, 5]), strict=True):
        close(got[0], model.full(whole)[-1])


def test_pads_between_tokens_are_refused() -> None:
    model = decoder("llama")
    _, cache = model.extend_batch([[1], [2]], model.new_batch_cache(2))
    with pytest.raises(Unsupported, match="pads between tokens"):
        model.extend_batch([[1], [2, 3]], cache)


@pytest.mark.parametrize(("name", "variant"), [("llama", "dynamic"), ("llama", "static")])
def test_a_rollback_leaves_the_first_tokens(name: str, variant: str) -> None:
    model = decoder(name, variant)
    _, cache = model.extend([1, 2, 3, 4], model.new_cache())
    rows, _ = model.extend([9], model.crop(cache, 2))
    close(rows[0], model.full([1, 2, 9])[2])


def test_a_rollback_that_the_library_refuses_is_unsupported_in_its_words() -> None:
    sliding, recurrent = decoder("mistral"), decoder("mamba2")
    _, cache = sliding.extend(range(10), sliding.new_cache())
    with pytest.raises(Unsupported, match="does not track past states"):
        sliding.crop(cache, 9)
    _, cache = recurrent.extend([1, 2], recurrent.new_cache())
    with pytest.raises(Unsupported, match="is_croppable is False"):
        recurrent.crop(cache, 1)


@pytest.mark.parametrize("variant", ["dynamic", "static"])
def test_a_cache_that_was_emptied_is_as_a_new_one(variant: str) -> None:
    model = decoder("gemma2", variant)
    _, cache = model.extend(range(9), model.new_cache())
    rows, _ = model.extend([3, 1], model.reset(cache))
    close(rows, model.full([3, 1]))


def test_what_the_library_says_it_does_not_support_is_unsupported() -> None:
    model = decoder("prophetnet")
    _, cache = model.extend([1, 2], model.new_cache())
    with pytest.raises(Unsupported, match="support"):
        model.extend([3, 4], cache)


def test_a_model_that_takes_no_mask_offers_no_batches() -> None:
    model = decoder("xlstm")
    assert model.new_batch_cache is None
    assert model.extend_batch is None


def test_a_cache_that_is_filled_but_not_returned_is_kept() -> None:
    model = decoder("recurrent_gemma")
    _, cache = model.extend([1, 2], model.new_cache())
    assert cache.cache.get_seq_length() == 2


def test_a_model_that_makes_no_cache_is_unsupported() -> None:
    model = decoder("recurrent_gemma")
    with pytest.raises(Unsupported, match="returned no cache with use_cache=True"):
        model.extend([1], PaddedCache(None))
