"""Schedules as values: the calls and cache operations that a case consists of.

Start with `Schedule.parse`; `NOTATION` describes what it reads.
"""

from cachecheck.schedule.branches import Branch, Branches
from cachecheck.schedule.case import Case
from cachecheck.schedule.notation import NOTATION
from cachecheck.schedule.partitions import partitions
from cachecheck.schedule.schedule import Schedule, operations_of
from cachecheck.schedule.steps import (
    FIRST,
    OPERATIONS,
    Append,
    Crop,
    Fork,
    Merge,
    New,
    Release,
    Reorder,
    Reset,
    Save,
    Step,
    branch_name,
)

__all__ = [
    "FIRST",
    "NOTATION",
    "OPERATIONS",
    "Append",
    "Branch",
    "Branches",
    "Case",
    "Crop",
    "Fork",
    "Merge",
    "New",
    "Release",
    "Reorder",
    "Reset",
    "Save",
    "Schedule",
    "Step",
    "branch_name",
    "operations_of",
    "partitions",
]
