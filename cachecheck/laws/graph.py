"""The implications between laws: what follows from a law, and what a broken one means."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from cachecheck.laws.base import Law


def implied(laws: Mapping[str, Law], name: str) -> set[str]:
    """Every law that follows from ``name``, step by step."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for weaker in laws[waiting.pop()].implies:
            if weaker not in found:
                found.add(weaker)
                waiting.append(weaker)
    return found


def weakest(laws: Mapping[str, Law], broken: Collection[str]) -> list[str]:
    """Those of the ``broken`` laws from which no other of them follows: where to begin."""
    return [name for name in laws if name in broken and not implied(laws, name) & set(broken)]


def falls_with(laws: Mapping[str, Law], broken: Collection[str]) -> list[str]:
    """The laws that cannot hold because one of the ``broken`` follows from them."""
    return [name for name in laws if name not in broken and implied(laws, name) & set(broken)]
