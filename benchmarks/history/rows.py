"""The old faults: what each was, in which releases, and the law that must find it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

_FILE = Path(__file__).with_name("rows.toml")


@dataclass(frozen=True)
class Run:
    """One search: which release, whether it has the fault, and what is checked."""

    side: str
    version: str
    target: str


@dataclass(frozen=True)
class Row:
    """One fault in one model or cache.

    Attributes:
        id: on the command line and in the evidence.
        fault: what went wrong, in a few words; the same for all rows of one fault.
        what: the same in a sentence.
        target: in the folder of adapters, ``module:factory``; the same for all releases.
        law: the one that must be violated.
        wrong: releases that have the fault.
        right: releases that do not.
        report: the public thread, ``owner/repository#number``; empty if we know of none.
        package: what the releases are of.
        answer: the verdict that a wrong release must get: ERROR where the library raises.
        right_target: where right and wrong are two ways to use one release.
    """

    id: str
    fault: str
    what: str
    target: str
    law: str
    wrong: tuple[str, ...]
    right: tuple[str, ...]
    report: str = ""
    package: str = "transformers"
    answer: str = "VIOLATED"
    right_target: str | None = None

    @property
    def runs(self) -> list[Run]:
        """Every search of this row."""
        wrong = [Run("wrong", version, self.target) for version in self.wrong]
        return wrong + [
            Run("right", version, self.right_target or self.target) for version in self.right
        ]


def _read() -> dict[str, Row]:
    """From the file beside this one.

    Raises:
        TypeError: a key that is missing, or one too many.
    """
    read = tomllib.loads(_FILE.read_text(encoding="utf-8"))["row"]
    lists = ("wrong", "right")
    rows = [Row(**{**one, **{name: tuple(one[name]) for name in lists}}) for one in read]
    return {row.id: row for row in rows}


ROWS: Mapping[str, Row] = MappingProxyType(_read())
"""Every row by its id, in the order of the file."""
