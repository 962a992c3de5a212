"""Deliberately broken caches, which a check of caches has to find.

Each takes a right kind of `cachecheck.reference.caches` and replaces one mechanism of it by a
mistake that people make. May import errors and the reference, and no law: a fault names the law
that catches it, and tests and benchmarks bring the two together.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType

from cachecheck.errors import InputError
from cachecheck.faults.bands import BANDS
from cachecheck.faults.batches import BATCHES
from cachecheck.faults.blocks import BLOCKS
from cachecheck.faults.buffers import BUFFERS
from cachecheck.faults.crops import CROPS
from cachecheck.faults.fault import Fault
from cachecheck.faults.forks import FORKS
from cachecheck.faults.kinds import KINDS, Kind
from cachecheck.faults.late import LATE
from cachecheck.faults.masks import MASKS
from cachecheck.faults.merges import MERGES
from cachecheck.faults.passes import PASSES
from cachecheck.faults.positions import POSITIONS
from cachecheck.faults.prefixes import PREFIXES
from cachecheck.faults.quantising import QUANTISING
from cachecheck.faults.recurrence import RECURRENCE
from cachecheck.faults.resets import RESETS
from cachecheck.faults.resuming import RESUMING
from cachecheck.faults.rows import ROWS
from cachecheck.faults.saving import SAVING
from cachecheck.faults.scales import SCALES
from cachecheck.faults.scores import SCORES
from cachecheck.faults.sharing import SHARING
from cachecheck.faults.states import STATES
from cachecheck.faults.storing import STORING
from cachecheck.faults.windows import WINDOWS

FAULTS: Mapping[str, Fault] = MappingProxyType(
    {
        fault.id: fault
        for fault in (
            *(*MASKS, *POSITIONS, *SCORES, *BANDS, *PASSES, *LATE),
            *(*FORKS, *BLOCKS, *CROPS, *WINDOWS, *SAVING),
            *(*PREFIXES, *SHARING, *QUANTISING, *SCALES, *ROWS, *RESETS, *STORING),
            *(*MERGES, *RESUMING, *STATES),
            *(*BUFFERS, *BATCHES, *RECURRENCE),
        )
    }
)
"""The faults by id."""


def fault_named(name: str) -> Fault:
    """The fault of that id.

    Raises:
        InputError: there is none; the nearest ids are named.
    """
    if name not in FAULTS:
        near = get_close_matches(name, FAULTS, n=3, cutoff=0.4)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise InputError(f"unknown fault {name!r}{hint} (cachecheck faults lists them)")
    return FAULTS[name]


__all__ = ["FAULTS", "KINDS", "Fault", "Kind", "fault_named"]
