"""Random models, caches and calls in plain transformers, for the checks of ``plain.py``."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import torch
import transformers

Model = Any
Make = Callable[[], Any]

NAMES = ("cache", "past_key_values", "state", "mems", "past_buckets_states")
SEEDS = 4
"""Models drawn for each job."""
MODEL = ("class", "config_class", "config", "variant", "attention")


@lru_cache(maxsize=SEEDS)
def build(described: str, seed: int) -> Model:
    """A random model of the configuration in the ``MODEL`` parts of a job."""
    job = json.loads(described)
    config = getattr(transformers, job["config_class"]).from_dict(job["config"])
    config._attn_implementation = job["attention"]  # noqa: SLF001 - as from_config does
    if job["variant"] == "float64":
        config._experts_implementation = "eager"  # noqa: SLF001 - grouped products have no float64
    torch.manual_seed(seed)
    model = getattr(transformers, job["class"])._from_config(config, dtype=torch.float32)  # noqa: SLF001
    for weights in model.parameters():
        if weights.ndim >= 2 and float(weights.detach().std()) < 0.04:  # else little would be seen
            weights.data.normal_(0.0, 0.18)
        if job["variant"] == "float64":
            weights.data = weights.data.double()
    return model.eval()


def cache_maker(model: Model, variant: str) -> Make:
    """What makes an empty cache; None where the model makes its own in the first call."""
    config = model.config.get_text_config(decoder=True)
    if variant == "static":
        return lambda: transformers.StaticCache(config=config, max_cache_len=32)
    if variant == "fp8":
        return lambda: transformers.QuantizedCache("fp8", config)
    if variant in ("quanto", "hqq"):
        bits = {"nbits": 4, "q_group_size": 4, "residual_length": 4}
        return lambda: transformers.QuantizedCache(variant, config, **bits)
    if not model._supports_default_dynamic_cache():  # noqa: SLF001 - as generate asks
        return lambda: None

    def dynamic() -> Any:
        cache = transformers.DynamicCache(config=config)
        if variant == "recording":
            cache.activate_past_recording()
        return cache

    return dynamic


def argument(model: Model) -> str:
    """What a model's forward pass calls its cache."""
    takes = inspect.signature(model.forward).parameters
    return next(name for name in NAMES if name in takes)


def given(model: Model, cache: Any) -> dict[str, Any]:
    """The argument that hands a cache over, if there is one yet."""
    return {} if cache is None else {argument(model): cache}


def left_padded(prompts: list[torch.Tensor], pad: int) -> tuple[torch.Tensor, torch.Tensor]:
    """(B, T) tokens with pads in front, and the mask of what is none."""
    columns = max(map(len, prompts))
    ids = torch.full((len(prompts), columns), pad)
    mask = torch.zeros_like(ids)
    for row, prompt in enumerate(prompts):
        ids[row, columns - len(prompt) :], mask[row, columns - len(prompt) :] = prompt, 1
    return ids, mask


class Running:
    """One sequence decoded with a cache, a call at a time."""

    def __init__(self, model: Model, cache: Any) -> None:
        self.model, self.cache = model, cache

    def __call__(self, ids: torch.Tensor) -> torch.Tensor:
        """Rows of the new tokens (T, vocabulary)."""
        with torch.no_grad():
            answer = self.model(ids[None], use_cache=True, **given(self.model, self.cache))
        self.cache = answer.get("cache", answer.get(argument(self.model), self.cache))
        return answer.logits[0]


def full(model: Model, ids: torch.Tensor) -> torch.Tensor:
    """Rows of one pass without a cache."""
    with torch.no_grad():
        return model(ids[None], use_cache=False).logits[0]


def off(one: torch.Tensor, other: torch.Tensor) -> float:
    """The largest difference."""
    return float((one - other).abs().max())


def generated(model: Model, make: Make, ids: torch.Tensor, forced: torch.Tensor,
              mask: torch.Tensor) -> torch.Tensor:  # fmt: skip
    """Logits (B, steps, vocabulary) that generate sees before each of the forced tokens."""

    def force(seen: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        wanted = forced[:, seen.shape[1] - ids.shape[1]]
        return torch.full_like(scores, -1e9).scatter(1, wanted[:, None], 0.0)

    found = model.generate(
        ids, attention_mask=mask, max_new_tokens=forced.shape[1], min_new_tokens=forced.shape[1],
        do_sample=False, use_cache=True, logits_processor=transformers.LogitsProcessorList([force]),
        output_logits=True, return_dict_in_generate=True,
        **given(model, make()),
    )  # fmt: skip
    return torch.stack(found.logits, dim=1)
