"""Bars on the terminal's error stream while something takes its time."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from cachecheck.session.run_folder import RunFolder

Watch = Callable[[], tuple[float, str, str]]
"""The state of the work: how much is done, what is at work, and a line of figures."""


@contextlib.contextmanager
def watching(watch: Watch, *, total: float | None) -> Iterator[None]:
    """A bar that shows what ``watch`` says, ten times a second; nothing where no one looks."""
    # pytest redirects the stream itself while a test runs; a duplicate of it is out of its reach.
    with os.fdopen(os.dup(2), "w") as stream:
        console = Console(file=stream)
        if not console.is_terminal:
            yield
            return
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[figures]}"),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task("starting", total=total, figures="")
            stop = threading.Event()

            def follow() -> None:
                while not stop.wait(0.1):
                    done, work, figures = watch()
                    progress.update(task, completed=done, description=work, figures=figures)

            watcher = threading.Thread(target=follow, daemon=True)
            watcher.start()
            try:
                yield
            finally:
                stop.set()
                watcher.join()


def progress_bar(
    laws: Sequence[str], run_folder: RunFolder, *, cases: int, seconds: float | None
) -> contextlib.AbstractContextManager[None]:
    """The bar of a fuzzing run: by cases, or by time with the rate and what has been reached."""
    started = time.monotonic()

    def watch() -> tuple[float, str, str]:
        running = run_folder.running(laws)
        ended = sum(one.verdict.examples for law in laws for one in run_folder.finished(law))
        tried = ended + sum(one.cases for one in running.values())
        past = time.monotonic() - started
        figures = f"{tried:,} examples, {tried / max(past, 0.1):.0f}/s"
        reached = max((one.classes for one in running.values()), default=0)
        if reached:
            figures += f", {reached} classes of calls"
        finished = sum(bool(run_folder.finished(law)) for law in laws)
        by_cases = finished * cases + sum(one.cases for one in running.values())
        return (by_cases if seconds is None else past), ", ".join(running) or "checking", figures

    return watching(watch, total=cases * len(laws) if seconds is None else seconds)


@contextlib.contextmanager
def counting(what: str) -> Iterator[Callable[[int], None]]:
    """A line that says how many of something were done; hand it the number."""
    count = 0

    def note(number: int) -> None:
        nonlocal count
        count = number

    with watching(lambda: (0.0, what, f"{count:,}"), total=None):
        yield note
