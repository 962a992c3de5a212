"""Look-alikes that are right: decoders that no law may accuse.

Each looks like a mistake, or differs from the reference in a way that is nobody's business. May
import errors and the reference, and no law: tests and benchmarks bring the two together.
"""

from collections.abc import Mapping
from types import MappingProxyType

from cachecheck.controls.attention import ATTENTION
from cachecheck.controls.batches import BATCHES
from cachecheck.controls.calls import CALLS
from cachecheck.controls.control import Control
from cachecheck.controls.handles import HANDLES
from cachecheck.controls.numbers import NUMBERS
from cachecheck.controls.positions import POSITIONS
from cachecheck.controls.precision import PRECISION
from cachecheck.controls.remembering import REMEMBERING
from cachecheck.controls.slots import SLOTS
from cachecheck.controls.softmaxes import SOFTMAXES
from cachecheck.controls.storage import STORAGE
from cachecheck.controls.windows import WINDOWS

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
