"""The small transformer around a kernel: weights, norms, rotary angles, and attention written out.

`attention` is softmax(QK^T)V with whole matrices and nothing fused: what a kernel is compared with.
It shares no code with torch's own attention functions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from cachecheck.errors import TargetError

DTYPES = ("float64", "float32", "bfloat16", "float16")
"""Precisions that weights, keys and values may have."""

POSITIONS = ("rotary", "none")
"""Sources of a row's position: turned queries and keys, or the causal mask alone."""


@dataclass(frozen=True)
class Sizes:
    """Shape of the decoder: H query heads and G key/value heads of width D, and the vocabulary V.

    Raises:
        TargetError: a size that is not a positive integer, heads that do not divide into groups, an
            odd head width with rotary positions, an unknown precision or kind of positions.
    """

    layers: int
    heads: int
    key_value_heads: int
    head_width: int
    vocab_size: int
    dtype: str
    positions: str

    def __post_init__(self) -> None:
        for name in ("layers", "heads", "key_value_heads", "head_width", "vocab_size"):
            check_size(name, getattr(self, name))
        if self.heads % self.key_value_heads:
            raise TargetError(
                f"heads={self.heads} must be a multiple of key_value_heads={self.key_value_heads}"
            )
        for name, known in (("dtype", DTYPES), ("positions", POSITIONS)):
            if getattr(self, name) not in known:
                raise TargetError(f"{name}={getattr(self, name)!r} must be one of {known}")
        if self.positions == "rotary" and self.head_width % 2:
            raise TargetError(f"rotary positions need an even head_width; got {self.head_width}")

    @property
    def width(self) -> int:
        """Of a hidden row: H x D."""
        return self.heads * self.head_width


def check_size(name: str, value: Any) -> None:
    """Raise TargetError unless ``value`` is an integer of 1 or more."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise TargetError(f"{name}={value!r} must be an integer >= 1")


@dataclass(frozen=True)
class Weights:
    """Drawn once in float32, whatever the precision: the embedding, each layer's by name, the head.

    A linear layer draws from N(0, 1 / width of its input), so that rows and attention scores are of
    order one, and a mistake in a mask shows in the rows.
    """

    embedding: Any
    layers: tuple[dict[str, Any], ...]
    head: Any

    @classmethod
    def drawn(cls, sizes: Sizes, seed: int, device: str) -> Weights:
        """The same seed gives the same weights; torch's global random state is left alone."""
        generator = torch.Generator().manual_seed(seed)
        dtype = getattr(torch, sizes.dtype)

        def normal(rows: int, columns: int, scale: float) -> Any:
            drawn = torch.randn(rows, columns, generator=generator, dtype=torch.float32)
            return (drawn * scale).to(device=device, dtype=dtype)

        width, group = sizes.width, sizes.key_value_heads * sizes.head_width
        inner = 2 * width
        shapes = {
            "query": (width, width),
            "key": (width, group),
            "value": (width, group),
            "output": (width, width),
            "mlp_in": (width, inner),
            "mlp_out": (inner, width),
        }
        return cls(
            embedding=normal(sizes.vocab_size, width, 1.0),
            layers=tuple(
                {name: normal(*shape, shape[0] ** -0.5) for name, shape in shapes.items()}
                for _ in range(sizes.layers)
            ),
            head=normal(width, sizes.vocab_size, width**-0.5),
        )

    def double(self) -> Weights:
        """The same numbers in float64, their rounding to a shorter type included."""
        return Weights(
            self.embedding.double(),
            tuple({name: one.double() for name, one in layer.items()} for layer in self.layers),
            self.head.double(),
        )


def norm(rows: Any) -> Any:
    """Each row scaled to a root mean square of one, computed in float32 at least."""
    wide = rows.to(working(rows.dtype))
    return (wide * (wide.square().mean(-1, keepdim=True) + 1e-6).rsqrt()).to(rows.dtype)


def feed_forward(rows: Any, weights: dict[str, Any]) -> Any:
    """The MLP of a layer: the amount that is added to its rows."""
    return torch.nn.functional.silu(norm(rows) @ weights["mlp_in"]) @ weights["mlp_out"]


def rotated(heads: Any, positions: Any) -> Any:
    """(B, heads, T, D) turned by its angles; ``positions`` is (B, T), whole numbers."""
    half = heads.shape[-1] // 2
    kind = working(heads.dtype)
    exponents = torch.arange(half, device=heads.device, dtype=kind) / half
    angles = positions[:, None, :, None].to(kind) * 10000.0**-exponents  # (B, 1, T, D/2)
    first, second = heads[..., :half].to(kind), heads[..., half:].to(kind)
    cosine, sine = angles.cos(), angles.sin()
    turned = torch.cat([first * cosine - second * sine, first * sine + second * cosine], dim=-1)
    return turned.to(heads.dtype)


def attention(query: Any, key: Any, value: Any, mask: Any) -> Any:
    """Masked softmax attention, accumulated in float32 at least, in whole matrices.

    Args:
        query: (B, H, T, D).
        key: (B, G, S, D), G a divisor of H; query head h reads key head h // (H/G).
        value: (B, G, S, D).
        mask: booleans that broadcast to (B, H, T, S), True where a row may see a key; each row sees
            one at least.

    Returns:
        (B, H, T, D), in the precision of the query.
    """
    kind = working(query.dtype)
    group = query.shape[1] // key.shape[1]
    keys = key.to(kind).repeat_interleave(group, dim=1)  # (B, H, S, D)
    values = value.to(kind).repeat_interleave(group, dim=1)  # (B, H, S, D)
    scores = query.to(kind) @ keys.transpose(-1, -2) * query.shape[-1] ** -0.5  # (B, H, T, S)
    scores = scores.masked_fill(~mask, -torch.inf)
    exponentials = (scores - scores.amax(-1, keepdim=True)).exp()
    probabilities = exponentials / exponentials.sum(-1, keepdim=True)
    return (probabilities @ values).to(query.dtype)


def working(dtype: Any) -> Any:
    """float32, or float64 for what is float64."""
    return torch.promote_types(dtype, torch.float32)
