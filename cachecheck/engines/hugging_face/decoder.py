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
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import DynamicCache

from cachecheck.engines.hugging_face.inspection import (
    cache_argument,
    learned_positions,
    sliding_window,
    tensors,
    to_numpy,
)
from cachecheck.engines.hugging_face.padded_cache import PaddedCache, first_line
from cachecheck.errors import Unsupported


class HuggingFaceDecoder:
    """A decoder over any causal ``transformers`` model: rows are its logits (T, vocabulary).

    A model without a head gives its last hidden states instead. The model is put into eval mode
    (dropout would make rows random) and left on its device, in its precision.

    Args:
        model: a ``transformers`` model with a decoder's forward pass.
        vocab_size: tokens are drawn below it; default: the model's own.
        max_length: positions the model can hold; default: the size of a table of learned
            positions, found by its name, else None. Rotary models have no such end.
        dtype: precision of the arithmetic; default: the parameters', but float32 for float64,
            because the library keeps norms, rotary angles and eager softmax in float32 then too.
        make_cache: makes an empty cache; default: the library's ``DynamicCache`` for this model,
            or what a model that takes none makes for itself.
        atol: absolute difference the model promises, if less than its dtype (quantised weights or
            caches); default: its dtype decides.
        threads: torch threads of one call, put back afterwards; default: torch's setting. Give 1
            for a tiny model.

    Raises:
        TargetError: the model's forward pass takes no cache.
    """

    mutates_cache = True  # the library's caches grow in place
    even_batches = True  # pads stand in front of a prompt, and nowhere else

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
        self._cache_argument = cache_argument(model)
        self._text_config = model.config.get_text_config(decoder=True)
        self.vocab_size = int(vocab_size or self._text_config.vocab_size)
        self.window = sliding_window(self._text_config)
        self.max_length = max_length or learned_positions(model, self._text_config)
        self.dtype = dtype or ("float32" if model.dtype == torch.float64 else str(model.dtype))
        self.atol = atol
        self._threads = threads
        self._make_cache = make_cache or self._default_cache
        takes = inspect.signature(model.forward).parameters
        self._takes_positions = "position_ids" in takes
        # XLNet's cache has no room for which columns are pads; it is known by its target mapping.
        if "attention_mask" not in takes or "target_mapping" in takes:
            self.new_batch_cache = self.extend_batch = None  # type: ignore[assignment,method-assign]
            self.full_batch = self.reorder = None  # type: ignore[assignment,method-assign]

    def full(self, tokens: Any) -> NDArray[np.floating]:
        """(T,) integers -> (T, width): one pass, with no cache object in sight."""
        outputs = self._call(input_ids=self._ids(tokens)[None], use_cache=False)
        rows: NDArray[np.floating] = _rows(outputs)[0]
        return rows

    def new_cache(self) -> PaddedCache:
        """An empty cache, of the kind the model makes for itself when given none."""
        return PaddedCache(self._make_cache())

    def extend(self, tokens: Any, cache: PaddedCache) -> tuple[NDArray[np.floating], PaddedCache]:
        """(T,) new tokens -> rows (T, width) and the cache, which has grown in place."""
        ids = self._ids(tokens)[None]
        past = {} if cache.cache is None else {self._cache_argument: cache.cache}
        outputs = self._call(input_ids=ids, use_cache=True, **past)
        self._update(cache, outputs, ids.shape[1])
        return _rows(outputs)[0], cache

    def fork(self, cache: PaddedCache) -> PaddedCache:
        """An independent copy."""
        return copy.deepcopy(cache)

    def crop(self, cache: PaddedCache, length: int) -> PaddedCache:
        """The cache rolled back to its first ``length`` tokens, by its own ``crop``."""
        cache.crop(length)
        return cache

    def reset(self, cache: PaddedCache) -> PaddedCache:
        """The cache emptied, by its own ``reset``."""
        cache.reset()
        return cache

    def state(self, cache: PaddedCache) -> list[dict[str, NDArray[Any]]]:
        """Per layer "key" and "value" (B, heads, S, width), and other tensors under their names.

        A layer that has seen no token holds nothing: an empty mapping.
        """
        return [dict(tensors(layer)) for layer in cache.layers()]

    def new_batch_cache(self, n: int) -> PaddedCache:
        """An empty cache for ``n`` sequences."""
        return PaddedCache(self._make_cache(), mask=torch.zeros((n, 0), dtype=torch.int64))

    def extend_batch(
        self, arrays: Sequence[Any], cache: PaddedCache
    ) -> tuple[list[NDArray[np.floating]], PaddedCache]:
        """New tokens of each sequence, padded on the left -> their rows, and the cache.

        Mask and positions are what the library's ``generate`` passes for a padded prompt, and for
        the pieces of one that it takes in chunks.
        """
        ids, mask = cache.columns(arrays, self._pad)
        columns = ids.shape[1]
        outputs = self._call(**self._batch_inputs(ids, mask, cache, use_cache=True))
        self._update(cache, outputs, columns)
        cache.mask = mask
        return _unpadded(_rows(outputs), arrays), cache

    def full_batch(self, arrays: Sequence[Any]) -> list[NDArray[np.floating]]:
        """Whole sequences, padded on the left -> their rows, with no cache involved."""
        ids, mask = PaddedCache(None).columns(arrays, self._pad)
        outputs = self._call(**self._batch_inputs(ids, mask, PaddedCache(None), use_cache=False))
        return _unpadded(_rows(outputs), arrays)

    def reorder(self, cache: PaddedCache, rows: Sequence[int]) -> PaddedCache:
        """The batch with these rows, in this order, by the cache's own ``reorder_cache``."""
        cache.reorder(rows)
        return cache

    @property
    def _pad(self) -> int:
        return int(getattr(self._text_config, "pad_token_id", None) or 0)

    def _ids(self, tokens: Any) -> torch.Tensor:
        return torch.as_tensor(np.asarray(tokens, np.int64), device=self.model.device)

    def _batch_inputs(
        self, ids: torch.Tensor, mask: torch.Tensor, past: PaddedCache, *, use_cache: bool
    ) -> dict[str, Any]:
        device, columns = self.model.device, ids.shape[1]
        ids, mask = ids.to(device), mask.to(device)
        given: dict[str, Any] = {"attention_mask": mask, "use_cache": use_cache}
        if self._takes_positions:
            positions = (mask.cumsum(-1) - 1).masked_fill(mask == 0, 0)
            given["position_ids"] = positions[:, -columns:]
        if past.cache is not None:
            given[self._cache_argument] = past.cache
        plain = {"input_ids": ids, **given}
        if getattr(self._text_config, "num_codebooks", None):
            return plain  # generate shifts the codes of a prompt against each other
        given["is_first_iteration"] = past.length == 0
        prepared = dict(self.model.prepare_inputs_for_generation(ids, **given))
        if not torch.equal(prepared.get("input_ids", ids), ids):
            return plain  # other tokens than were given: what generate adds for itself
        if "logits_to_keep" in prepared:
            prepared["logits_to_keep"] = 0  # all rows: generate needs the last alone
        return prepared

    def _update(self, padded: PaddedCache, outputs: Any, columns: int) -> None:
        """Put the cache that a call answered with into ``padded``, longer by ``columns``."""
        # The library answers under its newer name even when the argument has the older one.
        name = "cache" if "cache" in outputs else self._cache_argument
        # Some fill the cache that they are given and do not hand it back.
        padded.cache = outputs.get(name) if outputs.get(name) is not None else padded.cache
        if padded.cache is None:
            raise Unsupported(f"{type(self.model).__name__} returned no cache with use_cache=True")
        padded.length += columns

    def _call(self, **arguments: Any) -> Any:
        try:
            with torch.inference_mode(), _threads(self._threads):
                return self.model(**arguments)
        except (AssertionError, NotImplementedError, ValueError) as error:
            if _REFUSAL.search(str(error)):
                raise Unsupported(first_line(error)) from error
            raise

    def _default_cache(self) -> Any:
        supports = getattr(self.model, "_supports_default_dynamic_cache", None)
        if supports is not None and not supports():
            return None
        return DynamicCache(config=self._text_config)


_REFUSAL = re.compile(r"(not|n't|only|never) (yet )?(be )?support", re.IGNORECASE)
"""The library's words for what it does not do."""


def _rows(outputs: Any) -> NDArray[np.floating]:
    rows = outputs["logits"] if "logits" in outputs else outputs["last_hidden_state"]
    return to_numpy(rows)


def _unpadded(rows: NDArray[Any], arrays: Sequence[Any]) -> list[NDArray[np.floating]]:
    return [row[len(row) - len(array) :] for row, array in zip(rows, arrays, strict=True)]


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
