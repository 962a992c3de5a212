"""A decoder around any attention function: bring the kernel, the cache is here.

The kernel serves the cached calls alone. The full pass uses `plain.attention`, whole matrices under
a plain triangle, so that a kernel that is wrong in the same way on both sides has nowhere to hide:
the laws compare it with attention written out, from the first chunk on.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from cachecheck.engines.attention import plain
from cachecheck.engines.attention.kernel_call import Kernel, KernelCall, check_answer
from cachecheck.engines.hugging_face.inspection import to_numpy
from cachecheck.errors import TargetError


@dataclass(frozen=True)
class Cache:
    """Keys and values of each layer, (B, G, S, D), and how much of S each row has filled (B,)."""

    lengths: tuple[int, ...]
    layers: tuple[tuple[Any, Any], ...]


class AttentionDecoder:
    """A decoder whose cached calls use ``attend``: rows are logits (T, V).

    Caches are never changed, also by a kernel that does as it should. Batches are ragged: rows have
    pasts and chunks of their own, and B is 1 outside of them.

    Args:
        attend: the attention function, see `Kernel`.
        seed: of the weights.
        layers: L.
        heads: H, query heads.
        key_value_heads: G, a divisor of H.
        head_width: D, even with rotary positions.
        vocab_size: V, 2 or more.
        window: how many keys a row sees, its own included; None for all. Keys that left it are kept
            and masked: evicting them is no business of the kernel.
        dtype: precision of weights, keys and values: "float64", "float32", "bfloat16", "float16".
        device: where torch computes.
        positions: "rotary" or "none".
        float64: whether the kernel also takes float64; rounding is then told from mistakes by it.

    Raises:
        TargetError: a kernel that cannot be called, or sizes that do not fit together.
    """

    def __init__(
        self,
        attend: Kernel,
        *,
        seed: int = 0,
        layers: int = 2,
        heads: int = 4,
        key_value_heads: int = 2,
        head_width: int = 8,
        vocab_size: int = 32,
        window: int | None = None,
        dtype: str = "float32",
        device: str = "cpu",
        positions: str = "rotary",
        float64: bool = True,
    ) -> None:
        if not callable(attend):
            raise TargetError(
                f"attend is {type(attend).__name__}; expected a function of query, key, value, call"
            )
        if window is not None:
            plain.check_size("window", window)
        self.vocab_size, self.window, self.dtype = vocab_size, window, dtype
        self._attend, self._device = attend, device
        self._sizes = plain.Sizes(
            layers, heads, key_value_heads, head_width, vocab_size, dtype, positions
        )
        self._weights = plain.Weights.drawn(self._sizes, seed, device)
        self.as_float64 = self._in_float64 if float64 and dtype != "float64" else None

    def full(self, tokens: Any) -> NDArray[np.floating]:
        """(T,) integers -> (T, V): attention written out, with neither kernel nor cache."""
        mask = torch.ones(len(tokens), len(tokens), dtype=torch.bool, device=self._device).tril()
        if self.window is not None:
            mask = mask.triu(1 - self.window)
        positions = torch.arange(len(tokens), device=self._device)[None]
        rows = self._embedded([tokens])
        for weights in self._weights.layers:
            query, key, value = self._projected(rows, weights, positions)
            mixed = plain.attention(query, key, value, mask)
            rows = self._after(rows, mixed, weights)
        (logits,) = self._logits(rows)
        return logits

    def new_cache(self) -> Cache:
        """Empty."""
        return self.new_batch_cache(1)

    def extend(self, tokens: Any, cache: Cache) -> tuple[NDArray[np.floating], Cache]:
        """(T,) new tokens -> rows (T, V), and the cache that holds them as well."""
        (rows,), after = self.extend_batch([tokens], cache)
        return rows, after

    def new_batch_cache(self, count: int) -> Cache:
        """Of ``count`` empty rows."""
        shape = (count, self._sizes.key_value_heads, 0, self._sizes.head_width)
        empty = torch.empty(shape, dtype=getattr(torch, self.dtype), device=self._device)
        return Cache((0,) * count, ((empty, empty),) * self._sizes.layers)

    def extend_batch(
        self, arrays: Sequence[Any], cache: Cache
    ) -> tuple[list[NDArray[np.floating]], Cache]:
        """New tokens of each row -> their rows, and the cache that holds them as well."""
        chunks = tuple(len(tokens) for tokens in arrays)
        call = KernelCall(cache.lengths, chunks, self.window, self._device)
        rows, layers = self._embedded(arrays), []
        for weights, before in zip(self._weights.layers, cache.layers, strict=True):
            query, *new = self._projected(rows, weights, call.positions)
            key, value = (_joined(*both, call) for both in zip(before, new, strict=True))
            rows = self._after(rows, self._mixed(query, key, value, call), weights)
            layers.append((key, value))
        lengths = tuple(map(sum, zip(cache.lengths, chunks, strict=True)))
        logits = zip(self._logits(rows), chunks, strict=True)
        return [one[:chunk] for one, chunk in logits], Cache(lengths, tuple(layers))

    def crop(self, cache: Cache, length: int) -> Cache:
        """With its first ``length`` tokens only."""
        layers = tuple((key[:, :, :length], value[:, :, :length]) for key, value in cache.layers)
        return Cache((length,), layers)

    def reorder(self, cache: Cache, rows: Sequence[int]) -> Cache:
        """With these of its rows, in this order."""
        chosen = list(rows)
        layers = tuple((key[chosen], value[chosen]) for key, value in cache.layers)
        return Cache(tuple(cache.lengths[row] for row in chosen), layers)

    def state(self, cache: Cache) -> list[dict[str, NDArray[Any]]]:
        """Per layer "key" and "value", (B, G, S, D)."""
        return [{"key": to_numpy(key), "value": to_numpy(value)} for key, value in cache.layers]

    def _in_float64(self) -> AttentionDecoder:
        """The same weights and kernel, all in float64."""
        other = copy.copy(self)
        other.dtype, other.as_float64 = "float64", None
        other._weights = self._weights.double()  # noqa: SLF001
        return other

    def _embedded(self, arrays: Sequence[Any]) -> Any:
        """(B, T, width), shorter rows filled up with token 0."""
        ids = np.zeros((len(arrays), max(map(len, arrays))), np.int64)
        for row, tokens in zip(ids, arrays, strict=True):
            row[: len(tokens)] = tokens
        return self._weights.embedding[torch.from_numpy(ids).to(self._device)]

    def _projected(self, rows: Any, weights: dict[str, Any], positions: Any) -> list[Any]:
        """Query (B, H, T, D), key and value (B, G, T, D) of rows (B, T, width)."""
        normal = plain.norm(rows)
        width = self._sizes.head_width
        query, key, value = (
            (normal @ weights[name]).unflatten(-1, (-1, width)).transpose(1, 2)
            for name in ("query", "key", "value")
        )
        if self._sizes.positions == "rotary":
            query, key = plain.rotated(query, positions), plain.rotated(key, positions)
        return [query, key, value]

    def _mixed(self, query: Any, key: Any, value: Any, call: KernelCall) -> Any:
        """The kernel's answer (B, H, T, D), checked."""
        with torch.no_grad():
            mixed = self._attend(query, key, value, call)
        check_answer(mixed, query, call)
        return mixed

    @staticmethod
    def _after(rows: Any, mixed: Any, weights: dict[str, Any]) -> Any:
        """The layer's rows (B, T, width), from what its attention has mixed (B, H, T, D)."""
        rows = rows + mixed.transpose(1, 2).flatten(2) @ weights["output"]
        return rows + plain.feed_forward(rows, weights)

    def _logits(self, rows: Any) -> list[NDArray[np.floating]]:
        """(T, V) for each row of the batch."""
        return list(to_numpy(plain.norm(rows) @ self._weights.head))


def _joined(before: Any, new: Any, call: KernelCall) -> Any:
    """(B, G, S, D): each row's new keys or values, (B, G, T, D), behind those of before."""
    ends = [past + chunk for past, chunk in zip(call.pasts, call.chunks, strict=True)]
    batch, heads, _, width = new.shape
    joined = new.new_zeros(batch, heads, max(ends), width)
    for row, (past, end) in enumerate(zip(call.pasts, ends, strict=True)):
        joined[row, :, :past] = before[row, :, :past]
        joined[row, :, past:end] = new[row, :, : end - past]
    return joined
