"""Ctrl-C that nobody can swallow."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


class CtrlC:
    """Knows if Ctrl-C came while `watched`.

    Hypothesis has callbacks in the garbage collector and on weak references, and what is raised in
    there is lost: 26 of 682 interrupts, as measured.
    """

    came = False

    def raise_if_it_came(self) -> None:
        """Raise it again.

        Raises:
            KeyboardInterrupt: Ctrl-C came.
        """
        if self.came:
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Remember Ctrl-C in the body, as well as raising it."""
        before = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or not callable(before):
            yield
            return

        def remember(number: int, frame: FrameType | None) -> None:
            self.came = True
            before(number, frame)

        signal.signal(signal.SIGINT, remember)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
