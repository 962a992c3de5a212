"""Faults as plain data, and factories that make one from a right kind of cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from cachecheck.reference.config import Precision
from cachecheck.reference.stored import Storage, StoredDecoder
from cachecheck.reference.weights import Weights


class Make(Protocol):
    """A factory: from a seed to a decoder, as those of the right kinds."""

    def __call__(self, seed: int, dtype: Precision = "float64") -> Any: ...  # noqa: D102


@dataclass(frozen=True)
class Fault:
    """A right decoder with one mechanism replaced by a wrong one.

    Attributes:
        id: stable, in kebab-case.
        host: name of the right kind in `cachecheck.reference.caches.CACHES`.
        kind: kind of mistake, a key of `cachecheck.faults.KINDS`.
        mechanism: the part that is replaced, in a word or two.
        symptom: the mistake as its user meets it, in one sentence.
        law: id of the law that catches it.
        reports: public reports of it, ``owner/repository#number``, among those of its kind.
        make: from a seed to the broken decoder.
        right: from a seed to the same decoder without the fault.
        smallest: smallest schedule that shows it with the decoder of seed 0, as certified.
        when: the condition under which it strikes; empty for always.
    """

    id: str
    host: str
    kind: str
    mechanism: str
    symptom: str
    law: str
    reports: tuple[str, ...]
    make: Make
    right: Make
    smallest: str
    when: str = ""


def stored_factory(
    right: Make,
    decoder: Callable[..., StoredDecoder[Any]],
    storage: Callable[[Weights], Storage[Any]],
) -> Make:
    """A factory of ``decoder`` over ``storage``, with the configurations that ``right`` draws."""

    def make(seed: int, dtype: Precision = "float64") -> StoredDecoder[Any]:
        return decoder(right(seed, dtype).config, storage, seed=seed)

    return make
