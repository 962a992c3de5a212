"""Hugging Face causal models behind the three functions.

The calls are the plain ones: token ids and the cache, no attention mask and no positions. The
library then derives both from the cache, and that derivation is the code whose mistakes a chunked
pass shows; handing it positions of our own would test our arithmetic in place of the library's.

Threads: a tiny model gains nothing from a second one, and where processes share the cores (pytest
-n) they wait for each other in busy loops: two processes on two cores took 47 s for what either
does in 4 s on one thread. The setting is global and the user's, so it is changed for the length of
a call only, and only for a decoder made with ``threads``.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import DynamicCache

from cachecheck.errors import TargetError


class HuggingFaceDecoder:
    """A decoder over any causal ``transformers`` model: rows are its logits (T, vocabulary).

    A model without a head gives its last hidden states instead. The model is put into eval mode
    (dropout would make rows random) and left on its device, in its precision.

    Args:
        model: a ``transformers`` model with a decoder's forward pass; one for one batch row.
        vocab_size: tokens are drawn below it; default: the model's own.
        max_length: positions the model can hold; default: the size of a table of learned
            positions, found by its name, else None. Rotary models have no such end.
        dtype: precision of the arithmetic; default: the parameters', but float32 for float64,
            because the library keeps norms, rotary angles and eager softmax in float32 then too.
        make_cache: makes an empty cache; default: the library's ``DynamicCache`` for this model.
        atol: absolute difference the model promises, if less than its dtype (quantised weights or
            caches); default: its dtype decides.
        threads: torch threads of one call, put back afterwards; default: torch's setting. Give 1
            for a tiny model.

    Raises:
        TargetError: the model's forward pass takes no cache.
    """

    mutates_cache = True  # the library's caches grow in place

    def __init__(
        self,
        model: Any,
        *,
        vocab_size: int | None = None,
        max_length: int | None = None,
        dtype: str | None = None,
        make_cache: Callable[[], Any] | None = None,
        atol: float | None = None,
        threads: int | None = None,
    ) -> None:
        self.model = model.eval()
        self._cache_argument = _cache_argument(model)
        self._text_config = model.config.get_text_config(decoder=True)
        self.vocab_size = int(vocab_size or self._text_config.vocab_size)
        self.window = _window(self._text_config)
        self.max_length = max_length or _learned_positions(model, self._text_config)
        self.dtype = dtype or ("float32" if model.dtype == torch.float64 else str(model.dtype))
        self.atol = atol
        self._threads = threads
        self._make_cache = make_cache or self._dynamic_cache

    def full(self, tokens: Any) -> NDArray[np.floating]:
        """(T,) integers -> (T, width): one pass, with no cache object in sight."""
        return self._rows(self._forward(tokens, use_cache=False))

    def new_cache(self) -> Any:
        """An empty cache, of the kind the model makes for itself when given none."""
        return self._make_cache()

    def extend(self, tokens: Any, cache: Any) -> tuple[NDArray[np.floating], Any]:
        """(T,) new tokens -> rows (T, width) and the cache, which has grown in place."""
        outputs = self._forward(tokens, use_cache=True, **{self._cache_argument: cache})
        # The library answers under its newer name even when the argument has the older one.
        name = "cache" if "cache" in outputs else "past_key_values"
        return self._rows(outputs), outputs.get(name)

    def fork(self, cache: Any) -> Any:
        """An independent copy."""
        return copy.deepcopy(cache)

    def state(self, cache: Any) -> list[dict[str, NDArray[Any]]]:
        """Per layer "key" and "value" (1, heads, S, width), and other tensors under their names.

        A layer that has seen no token holds nothing: an empty mapping.
        """
        return [dict(_tensors(layer)) for layer in cache.layers]

    def _forward(self, tokens: Any, **arguments: Any) -> Any:
        ids = torch.as_tensor(np.asarray(tokens, np.int64), device=self.model.device)
        with torch.inference_mode(), _threads(self._threads):
            return self.model(input_ids=ids[None], **arguments)

    def _rows(self, outputs: Any) -> NDArray[np.floating]:
        rows = outputs["logits"] if "logits" in outputs else outputs["last_hidden_state"]
        return _to_numpy(rows[0])

    def _dynamic_cache(self) -> Any:
        return DynamicCache(config=self._text_config)


@contextlib.contextmanager
def _threads(number: int | None) -> Iterator[None]:
    before = torch.get_num_threads()
    if number is None or number == before:
        yield
        return
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _cache_argument(model: Any) -> str:
    """The name of the cache in ``model.forward``.

    The library renamed ``past_key_values`` to ``cache`` within version 5 and warns at the old
    name; models kept outside it still have that one. So we ask the model.
    """
    parameters = inspect.signature(model.forward).parameters
    for name in ("cache", "past_key_values"):
        if name in parameters:
            return name
    raise TargetError(
        f"{type(model).__name__}.forward takes neither cache nor past_key_values; "
        "expected a causal transformers model"
    )


def _window(config: Any) -> int | None:
    """The sliding window, if a layer uses it: some configurations name one and turn it off."""
    window = getattr(config, "sliding_window", None)
    kinds = getattr(config, "layer_types", None)
    used = getattr(config, "use_sliding_window", True) and (
        kinds is None or "sliding_attention" in kinds
    )
    return int(window) if window and used else None


def _learned_positions(model: Any, config: Any) -> int | None:
    """How many positions a learned table holds; the tables are known by their names only."""
    for path, module in model.named_modules():
        name = path.rpartition(".")[2]
        if isinstance(module, torch.nn.Embedding) and ("pos" in name or name == "wpe"):
            return int(config.max_position_embeddings)
    return None


def _tensors(layer: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """What a layer of a cache holds; recurrent layers keep theirs in mappings by number."""
    for name, value in vars(layer).items():
        if name.startswith("_"):
            continue
        if isinstance(value, torch.Tensor):
            yield {"keys": "key", "values": "value"}.get(name, name), _to_numpy(value)
        elif isinstance(value, dict):
            for key, part in value.items():
                if isinstance(part, torch.Tensor):
                    yield f"{name}.{key}", _to_numpy(part)


def _to_numpy(tensor: Any) -> NDArray[Any]:
    tensor = tensor.detach().cpu()
    # numpy has no bfloat16; float32 holds each of its values exactly
    return np.array((tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy())
