"""The laws by id, in the order in which a reader wants to know."""

from collections.abc import Mapping
from types import MappingProxyType

from cachecheck.laws import (
    causality,
    determinism,
    frame,
    overflow,
    padding,
    prefix,
    programs,
    schedule,
    sensitivity,
    window,
    work,
)
from cachecheck.laws.base import Law
from cachecheck.laws.graph import falls_with, implied, weakest

_OPERATIONS = {law.id: law for law in programs.LAWS}

LAWS: Mapping[str, Law] = MappingProxyType(
    {
        law.id: law
        for law in (
            *(causality.LAW, prefix.LAW, determinism.LAW, schedule.LAW, frame.LAW),
            *(sensitivity.LAW, work.LAW, window.LAW, overflow.LAW),
            *(_OPERATIONS[name] for name in ("branch", "crop", "save", "reset")),
            *(padding.LAW, _OPERATIONS["batch"], _OPERATIONS["reorder"], _OPERATIONS["programs"]),
        )
    }
)

__all__ = ["LAWS", "Law", "falls_with", "implied", "weakest"]
