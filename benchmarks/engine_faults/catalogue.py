"""Every fault by its id."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from benchmarks.engine_faults import calls, masks, operations, positions, storing
from benchmarks.engine_faults.fault import EngineFault

_ROOMS = (masks, positions, storing, operations, calls)

FAULTS: Mapping[str, EngineFault] = MappingProxyType(
    {fault.id: fault for room in _ROOMS for fault in room.FAULTS}
)
