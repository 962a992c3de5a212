"""The guard around a decoder: it checks every answer, with one line for each wrong adapter."""

from cachecheck.guard.answers import Rows, Snapshot
from cachecheck.guard.guarded import Guarded
from cachecheck.guard.limit import CallLimit, CallTimeUpError
from cachecheck.guard.refusals import NotOfferedError, RefusedError

__all__ = [
    "CallLimit",
    "CallTimeUpError",
    "Guarded",
    "NotOfferedError",
    "RefusedError",
    "Rows",
    "Snapshot",
]
