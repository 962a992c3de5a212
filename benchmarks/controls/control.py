"""Controls as plain data, and the factories that make most of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from cachecheck.reference.caches.random_configs import small_config
from cachecheck.reference.config import Precision


class Make(Protocol):
    """A factory: from a seed to a decoder, whose configuration follows from the seed as well."""

    def __call__(self, seed: int, dtype: Precision = "float64") -> Any: ...  # noqa: D102


@dataclass(frozen=True)
class Control:
    """A right decoder that looks like a wrong one.

    Attributes:
        id: stable, in kebab-case.
        looks_like: the mistake that it resembles, in one sentence.
        why_right: the reason why it is right, in one sentence.
        make: from a seed to the decoder.
        fixed_dtype: its precision, where there is only one and ``make`` ignores the argument.
    """

    id: str
    looks_like: str
    why_right: str
    make: Make
    fixed_dtype: str | None = None


def factory_of(decoder: Callable[..., Any], **changes: Any) -> Make:
    """A factory of ``decoder(config, seed=seed)``, with the seed's configuration and changes."""

    def make(seed: int, dtype: Precision = "float64") -> Any:
        return decoder(small_config(seed, dtype, **changes), seed=seed)

    return make


def float32_factory_of(decoder: Callable[..., Any], **changes: Any) -> Make:
    """The same for decoders that compute in float32 alone."""

    def make(seed: int, dtype: Precision = "float64") -> Any:  # noqa: ARG001 - as declared
        return decoder(small_config(seed, "float32", **changes), seed=seed)

    return make
