"""The bound on what a cache of few bits does to rows, measured on the model, and its use.

Run alone: python -m pytest -m extras tests/test_engines_quantised.py
"""

from __future__ import annotations

from typing import Any

import pytest

from cachecheck.laws import LAWS
from cachecheck.search import search
from cachecheck.search.cases import Effort
from cachecheck.target import as_target, load_target
from cachecheck.verdict import Answer

torch = pytest.importorskip("torch", reason="quantised caches are the library's")
pytest.importorskip("transformers", reason="quantised caches are the library's")

from transformers import DynamicCache  # noqa: E402
from transformers.cache_utils import DynamicLayer  # noqa: E402

from cachecheck.engines.hugging_face import HuggingFaceDecoder  # noqa: E402
from cachecheck.engines.hugging_face.quantised import four_bits, rounding_bound, three_bit_mantissa  # noqa: E402
from cachecheck.engines.hugging_face.tiny import tiny_model  # noqa: E402

pytestmark = pytest.mark.extras

FEW = Effort(examples=40, max_length=16)


def states(seed: int) -> Any:
    random = torch.Generator().manual_seed(seed)
    return torch.randn((1, 4, 16, 8), generator=random) * torch.rand(
        (1, 4, 16, 1), generator=random
    )


@pytest.mark.parametrize("seed", range(20))
def test_8_bit_floats_round_by_no_more_than_is_said(seed: int) -> None:
    given = states(seed)
    scale = given.abs().max() / 448  # the largest e4m3
    kept = (given / scale).to(torch.float8_e4m3fn).float() * scale
    below = scale * 2**-10  # half of the least step, which small entries round by
    off = (kept - given).abs() - three_bit_mantissa(given) - below
    assert off.max() < 1e-6
    assert ((kept - given).abs() / three_bit_mantissa(given)).max() > 0.5  # nor by far less


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("group", [4, 8])
def test_4_bits_round_by_no_more_than_is_said(seed: int, group: int) -> None:
    given = states(seed)
    parts = given.unflatten(-1, (-1, group))
    least, step = (
        parts.amin(-1, keepdim=True),
        (parts.amax(-1, keepdim=True) - parts.amin(-1, keepdim=True)) / 15,
    )
    kept = (((parts - least) / step).round() * step + least).flatten(-2)
    assert ((kept - given).abs() - four_bits(given)).max() < 1e-6


def test_what_rounding_explains_is_the_models_own_and_moves_no_global_generator() -> None:
    model = tiny_model("llama", 0).eval()
    before = torch.random.get_rng_state()
    bounds = [rounding_bound(model, "cache", three_bit_mantissa, 32) for _ in range(2)]
    assert torch.equal(before, torch.random.get_rng_state())
    assert bounds[0] == bounds[1]
    assert 0.05 < bounds[0] < rounding_bound(model, "cache", four_bits, 32)
    assert rounding_bound(model, "cache", torch.zeros_like, 32) < 1e-5  # no rounding, no difference


class Ideal(DynamicLayer):  # type: ignore[misc] # the library is not typed
    """Keeps 8-bit floats, with the scale that its content has now; new tokens are in full."""

    wrong = ""

    def update(self, keys: Any, values: Any, *args: Any, **kwargs: Any) -> Any:
        new = keys.shape[-2]
        keys, values = super().update(keys, values, *args, **kwargs)
        if self.wrong == "older keys by one place":
            keys = torch.cat([keys[..., :-new, :].roll(1, -2), keys[..., -new:, :]], dim=-2)
        elif self.wrong == "values of another head":
            values = values.roll(1, dims=1)
        return self._rounded(keys, new), self._rounded(values, new)

    def _rounded(self, states: Any, new: int) -> Any:
        old = states[..., :-new, :]
        if not old.numel():
            return states
        scale = old.abs().max() / 448
        kept = (old / scale).to(torch.float8_e4m3fn).float() * scale
        return torch.cat([kept, states[..., -new:, :]], dim=-2)


def ideal(name: str, wrong: str = "") -> Any:
    """A target: a model over the ideal cache, held to what rounding explains."""

    class Layer(Ideal):
        pass

    Layer.wrong = wrong

    def make(seed: int) -> HuggingFaceDecoder:
        model = tiny_model(name, seed).eval()

        def cache() -> Any:
            made = DynamicCache(config=model.config)
            made.layers = [Layer() for _ in made.layers]
            return made

        bound = rounding_bound(model, "cache", three_bit_mantissa, 32)
        return HuggingFaceDecoder(model, vocab_size=32, make_cache=cache, atol=bound, threads=1)

    return as_target(make, name)


@pytest.mark.parametrize("name", ["llama", "gpt2", "qwen3", "olmo2", "dbrx", "jetmoe"])
def test_an_ideal_8_bit_cache_holds_within_what_rounding_explains(name: str) -> None:
    verdict, _ = search(LAWS["schedule"], ideal(name), FEW)
    assert verdict.answer is Answer.HOLDS
    assert "that the decoder promises" in verdict.message


@pytest.mark.parametrize("wrong", ["older keys by one place", "values of another head"])
def test_what_is_no_rounding_is_found_in_an_8_bit_cache(wrong: str) -> None:
    verdict, _ = search(LAWS["schedule"], ideal("llama", wrong), FEW)
    assert verdict.answer is Answer.VIOLATED


def test_a_scale_that_is_frozen_by_the_first_token_is_more_than_rounding() -> None:
    many = Effort(examples=200, max_length=16)
    verdict, _ = search(LAWS["schedule"], load_target("hf:llama/fp8"), many)
    assert verdict.answer is Answer.VIOLATED
