"""Tiny models of any architecture: small, reproducible, with every kind of layer, at unit scale.

Run alone: python -m pytest -m extras tests/test_engines_tiny.py
"""

from __future__ import annotations

import dataclasses

import pytest

pytest.importorskip("torch", reason="tiny models need torch: the transformers extra")
pytest.importorskip("transformers", reason="tiny models need transformers")

import torch
import transformers

from cachecheck.engines.hugging_face.models import decoder_factory
from cachecheck.engines.hugging_face.tiny import (
    EXCEPTIONS,
    SIZES,
    TOKENS,
    WINDOW,
    causal_classes,
    tiny_config,
    tiny_model,
)
from cachecheck.engines.hugging_face.tiny.exceptions import NOT_CAUSAL
from cachecheck.engines.hugging_face.variants import STATIC_LENGTH, VARIANTS
from cachecheck.errors import TargetError, Unsupported

pytestmark = pytest.mark.extras

SAMPLE = ("llama", "gpt2", "gemma2", "mamba2", "qwen3_next", "deepseek_v3", "bart", "roberta")


@pytest.mark.parametrize("name", SAMPLE)
def test_the_same_seed_gives_the_same_weights_and_another_seed_others(name: str) -> None:
    first, again, other = (list(tiny_model(name, seed).parameters()) for seed in (3, 3, 4))
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(first, other, strict=True))


def test_torchs_own_random_state_is_left_alone() -> None:
    torch.manual_seed(5)
    due = torch.rand(3)
    torch.manual_seed(5)
    tiny_model("llama", 0)
    assert torch.equal(torch.rand(3), due)


@pytest.mark.parametrize("name", SAMPLE)
def test_models_are_small_and_matrices_of_unit_scale(name: str) -> None:
    model = tiny_model(name, 0)
    assert sum(one.numel() for one in model.parameters()) < 200_000
    for weights in (one.detach() for one in model.parameters() if one.ndim >= 2):
        assert float(weights.std()) > 0.04


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("gemma2", {"sliding_attention", "full_attention"}),
        ("qwen3_next", {"linear_attention", "full_attention"}),
        ("nemotron_h", {"linear_attention", "moe", "full_attention", "mlp"}),
        ("llama4_text", {"chunked_attention", "full_attention"}),
    ],
)
def test_a_layer_of_each_kind_is_there(name: str, kinds: set[str]) -> None:
    config = tiny_config(name)
    assert set(config.layer_types) == kinds
    assert config.num_hidden_layers == len(config.layer_types)


def test_windows_are_small_enough_to_be_crossed() -> None:
    for name in ("mistral", "gemma2", "recurrent_gemma", "gpt_neo", "llama4_text"):
        config = tiny_config(name)
        names = ("sliding_window", "attention_window_size", "window_size", "attention_chunk_size")
        assert WINDOW in [getattr(config, one, None) for one in names]


def test_every_exception_names_an_architecture_of_the_library() -> None:
    assert set(EXCEPTIONS) | set(NOT_CAUSAL) <= set(causal_classes())


def test_every_size_is_a_field_of_some_architecture() -> None:
    fields = set()
    for name in causal_classes():
        own = transformers.CONFIG_MAPPING[name]
        parts = [own, *(getattr(own, "sub_configs", None) or {}).values()]
        fields |= {one.name for each in parts if dataclasses.is_dataclass(each)
                   for one in dataclasses.fields(each)}  # fmt: skip
    assert set(SIZES) - fields <= {"backbone_hidden_size"}


def test_an_architecture_that_is_no_decoder_says_why() -> None:
    with pytest.raises(ValueError, match="cpmant sees the whole prompt"):
        tiny_model("cpmant", 0)
    with pytest.raises(TargetError, match="takes no cache"):
        decoder_factory("openai-gpt")(0)


@pytest.mark.parametrize("variant", [name for name in VARIANTS if name not in ("quanto", "hqq")])
def test_every_variant_runs_a_plain_decoder(variant: str) -> None:
    decoder = VARIANTS[variant].decoder("llama", 0)
    rows, cache = decoder.extend([1, 2, 3], decoder.new_cache())
    assert rows.shape == (3, TOKENS)
    rows, _ = decoder.extend([4], cache)
    assert abs(rows[0] - decoder.full([1, 2, 3, 4])[3]).max() < 1.0


def test_a_variant_that_is_the_usual_one_or_not_to_be_had_is_refused() -> None:
    with pytest.raises(Unsupported, match="eager is its usual attention"):
        VARIANTS["eager"].decoder("gemma2", 0)
    with pytest.raises(Unsupported, match="a cache of its own kind alone"):
        VARIANTS["static"].decoder("rwkv", 0)


def test_only_a_static_cache_that_evicts_nothing_has_an_end() -> None:
    assert VARIANTS["static"].decoder("llama", 0).max_length == STATIC_LENGTH
    assert VARIANTS["static"].decoder("mamba2", 0).max_length is None
    assert VARIANTS["dynamic"].decoder("llama", 0).max_length is None
