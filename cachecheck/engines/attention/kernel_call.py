"""The call of an attention kernel: what it is given, and what it must answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from cachecheck.errors import DecoderError, Unsupported


@dataclass(frozen=True)
class KernelCall:
    """Facts about one call of a kernel, beside query, key and value.

    The key at position p of a batch row stands at index p; past its last key a row is filled up
    with zeros, which the mask hides.

    Attributes:
        pasts: (B,) lengths that were cached before the call.
        chunks: (B,) new tokens. T is the largest; what is computed for the rows beyond is dropped.
        window: how many keys a row sees, its own included; None for all.
        device: where the mask is wanted.
    """

    pasts: tuple[int, ...]
    chunks: tuple[int, ...]
    window: int | None
    device: str

    @property
    def past(self) -> int:
        """The past that all rows of the batch share, for kernels that take one number or a flag.

        Raises:
            Unsupported: the pasts differ. The laws about batches then leave the case out.
        """
        if len(set(self.pasts)) > 1:
            raise Unsupported(f"the kernel asked for one past, and the batch has {self.pasts}")
        return self.pasts[0]

    @cached_property
    def positions(self) -> Any:
        """(B, T) positions of the new rows; rows that are only padding repeat the last one."""
        pasts = torch.tensor(self.pasts, device=self.device)[:, None]
        last = pasts + torch.tensor(self.chunks, device=self.device)[:, None] - 1
        steps = torch.arange(max(self.chunks), device=self.device)
        return torch.minimum(pasts + steps, last).clamp(min=0)

    @cached_property
    def mask(self) -> Any:
        """(B, 1, T, S) booleans, True where a row may see a key."""
        keys = max(past + chunk for past, chunk in zip(self.pasts, self.chunks, strict=True))
        distance = self.positions[:, None, :, None] - torch.arange(keys, device=self.device)
        seen = distance >= 0
        return seen if self.window is None else seen & (distance < self.window)


Kernel = Callable[[Any, Any, Any, KernelCall], Any]
"""``attend(query, key, value, call)``: (B, H, T, D), (B, G, S, D) twice, the call -> (B, H, T, D).

G divides H, and query head h reads key head h // (H/G). Scores are scaled by D ** -0.5.
"""


def check_answer(mixed: Any, query: Any, call: KernelCall) -> None:
    """Refuse what is not the mixed values of a query (B, H, T, D); padding is not looked at.

    Raises:
        DecoderError: no tensor, another shape or precision, NaN or infinity.
    """
    if not isinstance(mixed, torch.Tensor):
        raise DecoderError(f"the kernel returned {type(mixed).__name__}; expected a tensor")
    if mixed.shape != query.shape or mixed.dtype != query.dtype:
        raise DecoderError(
            f"the kernel returned {mixed.dtype} of shape {tuple(mixed.shape)}; expected "
            f"{query.dtype} of shape (B, H, T, D) = {tuple(query.shape)}, as the query"
        )
    for row, chunk in enumerate(call.chunks):
        if not mixed[row, :, :chunk].isfinite().all():
            raise DecoderError(f"the kernel returned NaN or infinity in batch row {row}")
