"""Deliberately broken caches: what a check of caches has to find.

Each takes a right kind of `cachecheck.reference.caches` and replaces one mechanism of it by a
mistake that people make. May import errors and the reference, and no law: a fault names the law
that catches it, and tests and benchmarks bring the two together.
"""

from collections.abc import Mapping
from types import MappingProxyType

from cachecheck.faults.batches import BATCHES
from cachecheck.faults.blocks import BLOCKS
from cachecheck.faults.buffers import BUFFERS
from cachecheck.faults.crops import CROPS
from cachecheck.faults.fault import Fault
from cachecheck.faults.forks import FORKS
from cachecheck.faults.recurrence import RECURRENCE
from cachecheck.faults.saving import SAVING
from cachecheck.faults.windows import WINDOWS

FAULTS: Mapping[str, Fault] = MappingProxyType(
    {
        fault.id: fault
        for fault in (
            *(*FORKS, *BLOCKS, *CROPS, *WINDOWS, *SAVING),
            *(*BUFFERS, *BATCHES, *RECURRENCE),
        )
    }
)
"""The faults by id."""

__all__ = ["FAULTS", "Fault"]
