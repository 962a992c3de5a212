"""What must hold, by id, in the order in which a reader wants to know."""

from collections.abc import Mapping
from types import MappingProxyType

from cachecheck.laws import causality, frame, prefix, schedule, sensitivity
from cachecheck.laws.base import Law

LAWS: Mapping[str, Law] = MappingProxyType(
    {one.LAW.id: one.LAW for one in (causality, prefix, schedule, frame, sensitivity)}
)

__all__ = ["LAWS", "Law"]
