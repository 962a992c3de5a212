"""The time limit on a call of the decoder.

A signal interrupts a call that hangs in Python. One that hangs in native code never comes back to
be interrupted: shortly after, the process is ended from a thread of its own that needs no
interpreter, and the place of the hang is written to a file.
"""

from __future__ import annotations

import contextlib
import faulthandler
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import TextIO

_GRACE = 2.0  # seconds for Python to come back before the process is ended


class CallTimeUpError(BaseException):
    """Raised inside a call that takes too long; decoders that catch Exception let it pass."""


@dataclass(frozen=True)
class CallLimit:
    """A limit on single calls. Only the main thread of a system with signals can keep it.

    Attributes:
        seconds: the longest time of a call.
        hang_file: for the place of a native hang; None if the process must not be ended.
    """

    seconds: float
    hang_file: TextIO | None = None

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        """Raise `CallTimeUpError` in the body when it takes too long."""
        here = threading.current_thread() is threading.main_thread()
        if not here or not hasattr(signal, "setitimer"):
            yield
            return

        def time_is_up(_number: int, _frame: FrameType | None) -> None:
            raise CallTimeUpError(f"within {self.seconds:g} s")

        before = signal.signal(signal.SIGALRM, time_is_up)
        signal.setitimer(signal.ITIMER_REAL, self.seconds)
        if self.hang_file is not None:
            faulthandler.dump_traceback_later(self.seconds + _GRACE, exit=True, file=self.hang_file)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            if self.hang_file is not None:
                faulthandler.cancel_dump_traceback_later()
