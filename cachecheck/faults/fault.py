"""What a deliberately broken cache is, as plain data, and how one is made from a right kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cachecheck.reference.stored import Storage, StoredDecoder
from cachecheck.reference.weights import Weights

Make = Callable[[int], Any]
"""From a seed to a decoder, as the factories of the right kinds."""


@dataclass(frozen=True)
class Fault:
    """A right kind of cache with one mechanism replaced by a wrong one.

    Attributes:
        id: stable, in kebab-case.
        kind: name of the kind in `cachecheck.reference.caches.CACHES`.
        mechanism: what is replaced, in a word or two.
        symptom: what its user sees, in one sentence.
        law: id of the law that catches it.
        make: from a seed to the broken decoder; the configuration is the right kind's.
        tokens: that its smallest failing schedule appends, at most, whatever the seed.
        steps: of that schedule, at most.
    """

    id: str
    kind: str
    mechanism: str
    symptom: str
    law: str
    make: Make
    tokens: int
    steps: int


def as_kind(
    right: Make,
    decoder: Callable[..., StoredDecoder[Any]],
    storage: Callable[[Weights], Storage[Any]],
) -> Make:
    """A factory of ``decoder`` over ``storage``, with the configurations that ``right`` draws."""

    def make(seed: int) -> StoredDecoder[Any]:
        return decoder(right(seed).config, storage, seed=seed)

    return make
