"""The kinds of mistakes that are reported in public, and the reports of each.

From a survey of 214 public issues and pull requests in 43 kinds; the mistakes are described in our
words, and ``kinds.json`` has the repositories and numbers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType


@dataclass(frozen=True)
class Kind:
    """A kind of mistake.

    Attributes:
        id: stable, in kebab-case.
        mistake: description, in a clause.
        reports: public reports, ``owner/repository#number``.
        unmodelled: the reason why the catalogue has no fault of this kind; empty where it has.
    """

    id: str
    mistake: str
    reports: tuple[str, ...]
    unmodelled: str = ""


UNMODELLED = {
    "numeric-noise-not-a-bug": "no mistake at all: the look-alikes that must not be accused "
    "(benchmarks/controls) stand for it",
    "cross-cache-wrong-policy": "the border has one sequence of tokens and no encoder behind it",
}
"""Kinds without a fault in the catalogue, with the reason."""


def _read() -> dict[str, Kind]:
    data = json.loads(Path(__file__).with_name("kinds.json").read_text(encoding="utf-8"))
    return {
        name: Kind(name, one["mistake"], tuple(one["reports"]), UNMODELLED.get(name, ""))
        for name, one in data.items()
    }


KINDS: Mapping[str, Kind] = MappingProxyType(_read())
"""The kinds by id."""
