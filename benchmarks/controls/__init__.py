"""Look-alikes that are right: decoders that no law may accuse.

Each looks like a mistake, or differs from the reference in a way that does not matter. May import
errors and the reference, and no law: tests and benchmarks bring the two together.
"""

from collections.abc import Mapping
from types import MappingProxyType

from benchmarks.controls.attention import ATTENTION
from benchmarks.controls.batches import BATCHES
from benchmarks.controls.calls import CALLS
from benchmarks.controls.control import Control
from benchmarks.controls.handles import HANDLES
from benchmarks.controls.numbers import NUMBERS
from benchmarks.controls.positions import POSITIONS
from benchmarks.controls.precision import PRECISION
from benchmarks.controls.remembering import REMEMBERING
from benchmarks.controls.slots import SLOTS
from benchmarks.controls.softmaxes import SOFTMAXES
from benchmarks.controls.storage import STORAGE
from benchmarks.controls.windows import WINDOWS

CONTROLS: Mapping[str, Control] = MappingProxyType(
    {
        control.id: control
        for control in (
            *(*ATTENTION, *SOFTMAXES, *POSITIONS, *WINDOWS, *STORAGE, *SLOTS),
            *(*HANDLES, *REMEMBERING, *CALLS, *BATCHES, *NUMBERS, *PRECISION),
        )
    }
)
"""The controls by id."""

__all__ = ["CONTROLS", "Control"]
