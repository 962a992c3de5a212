"""The library's cache, with the mask of its columns that a batch's next call needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from cachecheck.errors import Unsupported


@dataclass
class PaddedCache:
    """A cache, and which of its columns are tokens.

    Attributes:
        cache: the library's own; None before the first call where the model makes it itself.
        length: tokens of the one sequence, or columns of the batch, pads included.
        mask: (B, length) 1 for a token and 0 for a pad; None for one sequence without a batch.
    """

    cache: Any
    length: int = 0
    mask: torch.Tensor | None = None

    def layers(self) -> Sequence[Any]:
        """The layers of the library's cache; of a decoder's two caches those of its own tokens."""
        own = getattr(self.cache, "self_attention_cache", self.cache)
        return getattr(own, "layers", ())

    def columns(self, arrays: Sequence[Any], pad: int) -> tuple[torch.Tensor, torch.Tensor]:
        """(B, T) token ids with pads in front, and the (B, length + T) mask of all columns so far.

        Raises:
            Unsupported: rows of different lengths onto a history. Pads would come to stand between
                tokens, where windows count them and recurrent states take them in; the library
                pads prompts, and then every row grows by as many tokens.
        """
        sizes = [len(array) for array in arrays]
        if self.length and len(set(sizes)) > 1:
            raise Unsupported("pads between tokens: after the first call all rows grow alike")
        ids = torch.full((len(arrays), max(sizes)), pad, dtype=torch.int64)
        new = torch.zeros_like(ids)
        for row, array in enumerate(arrays):
            if len(array):
                ids[row, -len(array) :] = torch.as_tensor(np.asarray(array, np.int64))
                new[row, -len(array) :] = 1
        mask = new if self.mask is None else torch.cat([self.mask, new], dim=1)
        return ids, mask

    def reorder(self, rows: Sequence[int]) -> None:
        """Make the rows these, in this order, as a beam search does.

        Raises:
            Unsupported: this kind of cache has no such method.
        """
        index = torch.tensor(list(rows))
        if self.cache is not None and self.length:
            with torch.inference_mode():
                _method(self.cache, "reorder_cache")(index)
        if self.mask is not None:
            self.mask = self.mask.index_select(0, index)

    def crop(self, length: int) -> None:
        """Keep the first ``length`` tokens, as assisted generation rolls back.

        Raises:
            Unsupported: the library says that this cache cannot be cropped, or refuses.
        """
        if not getattr(self.cache, "is_croppable", False):
            raise Unsupported("the cache's is_croppable is False")
        try:
            with torch.inference_mode():  # as the buffers were made
                self.cache.crop(length - self.length)
        except (RuntimeError, ValueError) as error:  # how its layers refuse, by name
            if "crop" in str(error):
                raise Unsupported(first_line(error)) from error
            raise
        self.length = length

    def reset(self) -> None:
        """Empty the cache for another use.

        Raises:
            Unsupported: this kind of cache has no such method.
        """
        if self.cache is not None:
            with torch.inference_mode():
                _method(self.cache, "reset")()
        self.length = 0
        self.mask = None if self.mask is None else self.mask[:, :0]


def _method(cache: Any, name: str) -> Any:
    method = getattr(cache, name, None)
    if method is None:
        raise Unsupported(f"{type(cache).__name__} has no {name}")
    return method


def first_line(error: BaseException) -> str:
    """The first line of the library's message; the error's name where it has none."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
