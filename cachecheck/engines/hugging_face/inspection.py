"""Facts about a Hugging Face model and its cache, read off their members."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from cachecheck.errors import TargetError


def cache_argument(model: Any) -> str:
    """The name of the cache in ``model.forward``.

    The library renamed ``past_key_values`` to ``cache`` within version 5 and warns at the old
    name; models kept outside it still have that one. So we ask the model.
    """
    parameters = inspect.signature(model.forward).parameters
    for name in ("cache", "past_key_values", "state", "mems", "past_buckets_states"):
        if name in parameters:
            return name
    raise TargetError(
        f"{type(model).__name__}.forward takes no cache; expected a causal transformers model"
    )


def sliding_window(config: Any) -> int | None:
    """The sliding window, if a layer uses it: some configurations name one and turn it off."""
    window = getattr(config, "sliding_window", None)
    kinds = getattr(config, "layer_types", None)
    used = getattr(config, "use_sliding_window", True) and (
        kinds is None or "sliding_attention" in kinds
    )
    return int(window) if window and used else None


def learned_positions(model: Any, config: Any) -> int | None:
    """The number of positions in a learned table, or None; tables are known by their names only.

    Parts that see or hear have tables of their own. One with a padding index counts from there.
    """
    decoder = model.get_decoder() if hasattr(model, "get_decoder") else model
    for path, module in decoder.named_modules():
        name = path.rpartition(".")[2]
        if not isinstance(module, torch.nn.Embedding) or not ("pos" in name or name == "wpe"):
            continue
        most = int(getattr(config, "max_position_embeddings", module.num_embeddings))
        if module.num_embeddings >= most:
            return most if module.padding_idx is None else most - module.padding_idx - 1
    return None


def tensors(layer: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """The tensors of a cache's layer by name; recurrent layers have mappings of them."""
    for name, value in vars(layer).items():
        if name.startswith("_"):
            continue
        if isinstance(value, torch.Tensor):
            yield {"keys": "key", "values": "value"}.get(name, name), to_numpy(value)
        elif isinstance(value, dict):
            for key, part in value.items():
                if isinstance(part, torch.Tensor):
                    yield f"{name}.{key}", to_numpy(part)


def to_numpy(tensor: Any) -> NDArray[Any]:
    """A copy on the host, in a precision that numpy has."""
    tensor = tensor.detach().cpu()
    # numpy has no bfloat16; float32 holds each of its values exactly
    return np.array((tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy())
