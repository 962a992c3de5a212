"""``cachecheck fuzz``: the laws through pytest, with a progress bar and a report of our own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from cachecheck.errors import InputError
from cachecheck.files import write_whole
from cachecheck.laws import LAWS
from cachecheck.report.terminal import heading, print_plain, print_report
from cachecheck.verdict import Answer, Verdict, exit_code

INTERRUPTED = 130  # 128 + SIGINT, as shells have it


@dataclass(frozen=True)
class FuzzOptions:
    """What the command line asks for.

    Attributes:
        target: name of the decoder.
        laws: ids, all when empty.
        seed: of cases and weights.
        examples: cases a law.
        max_length: longest sequence, None for the default.
        json_file: where verdicts go as JSON, None for nowhere.
        save: folder for failing cases.
        workers: pytest-xdist's ``-n``, None for this process.
        pdb: enter the debugger where a law fails.
        junitxml: pytest's own report file.
        pytest_options: anything else for pytest.
    """

    target: str
    laws: tuple[str, ...] = ()
    seed: int = 0
    examples: int = 200
    max_length: int | None = None
    json_file: Path | None = None
    save: Path = Path("evidence/regressions")
    workers: str | None = None
    pdb: bool = False
    junitxml: Path | None = None
    pytest_options: tuple[str, ...] = ()


def fuzz(options: FuzzOptions, console: Console) -> int:
    """Run the laws, print the report, write what was asked for; return the exit code.

    Raises:
        InputError: an unknown law, options that pytest refuses, or a JSON file or a folder for
            failing cases that cannot be written.
    """
    laws = _chosen(options.laws)
    _check_places(options)
    print_plain(console, heading(options.target, options.seed, options.examples))
    # A worker that is on its way out may still write there.
    with tempfile.TemporaryDirectory(prefix="cachecheck-", ignore_cleanup_errors=True) as run_dir:
        status, output = _run_pytest(options, laws, Path(run_dir))
        interrupted = status == pytest.ExitCode.INTERRUPTED
        verdicts, saved = _collect(laws, Path(run_dir), interrupted=interrupted)
        running = _counts(laws, Path(run_dir))
    interrupted &= len(verdicts) < len(laws)  # quitting the debugger after the last law is no loss
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) and not interrupted:
        print_plain(console, output)
    if verdicts:
        print_report(console, verdicts, options.target, saved)
    if options.json_file is not None:
        report = {
            "target": options.target,
            "seed": options.seed,
            "verdicts": [verdict.to_json() for verdict in verdicts],
        }
        try:
            write_whole(options.json_file, json.dumps(report, indent=2) + "\n")
        except OSError as error:
            raise InputError(f"cannot write {options.json_file}: {error.strerror}") from error
    if interrupted:
        console.print(f"interrupted: {len(verdicts)} of {len(laws)} laws were done")
        for law, count in running.items():
            console.print(f"  {law}: none of {count} cases had failed", highlight=False)
        return INTERRUPTED
    return exit_code(verdicts)


def _chosen(wanted: Sequence[str]) -> list[str]:
    for law in wanted:
        if law not in LAWS:
            raise InputError(f"unknown law {law!r}; known: {', '.join(LAWS)}")
    return [law for law in LAWS if not wanted or law in wanted]


def _check_places(options: FuzzOptions) -> None:
    """Refuse what could not be written in the end, before any time is spent."""
    file = options.json_file
    if file is not None and not file.parent.is_dir():
        raise InputError(f"cannot write {file}: no folder {file.parent}")
    for file in filter(None, (options.json_file, options.junitxml)):
        if file.is_dir():
            raise InputError(f"cannot write {file}: it is a folder; name a file")
    for path in filter(None, (options.save / "a-case.json", options.junitxml)):
        for place in path.parents:  # pytest and we make folders that are not there yet
            if place.exists() and not place.is_dir():
                raise InputError(f"cannot write into {path.parent}: {place} is no folder")


def _run_pytest(options: FuzzOptions, laws: list[str], run_dir: Path) -> tuple[int, str]:
    """Run pytest on ``suite.py``, quiet, away from the user's own configuration."""
    arguments = [
        str(Path(__file__).with_name("suite.py")),
        *("-c", os.devnull, "--rootdir", str(Path.cwd()), "--noconftest"),
        "--assert=plain",  # nothing here asserts, and pytest would rewrite all of Hypothesis
        *("-p", "cachecheck.pytest_plugin", "-p", "no:cacheprovider"),
        *("--cachecheck-target", options.target, "--cachecheck-laws", ",".join(laws)),
        *("--cachecheck-seed", str(options.seed), "--cachecheck-examples", str(options.examples)),
        *("--cachecheck-save", str(options.save), "--cachecheck-run-dir", str(run_dir)),
    ]
    if options.max_length is not None:
        arguments += ["--cachecheck-max-length", str(options.max_length)]
    if options.workers is not None:
        arguments += ["-n", options.workers]
    if options.junitxml is not None:
        arguments += [f"--junitxml={options.junitxml}"]
    arguments += options.pytest_options
    if options.pdb:
        arguments += ["--pdb"]
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(_own_environment(run_dir))
        if not options.pdb:
            stack.enter_context(_progress_bar(options.examples, laws, run_dir))
            stack.enter_context(contextlib.redirect_stdout(output))
            stack.enter_context(contextlib.redirect_stderr(errors))
        status = int(pytest.main(arguments))
    if status == pytest.ExitCode.USAGE_ERROR:
        raise InputError(f"pytest refused its options: {_refusal(errors.getvalue())}")
    return status, output.getvalue() + errors.getvalue()


@contextlib.contextmanager
def _own_environment(run_dir: Path) -> Iterator[None]:
    """Leave out what configures the user's own tests; Hypothesis keeps its notes out of sight."""
    pytests = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")
    kept = {name: os.environ.pop(name) for name in pytests if name in os.environ}
    notes = "HYPOTHESIS_STORAGE_DIRECTORY"
    given = notes in os.environ
    os.environ.setdefault(notes, str(run_dir / "hypothesis"))
    try:
        yield
    finally:
        os.environ.update(kept)
        if not given:
            del os.environ[notes]


def _refusal(errors: str) -> str:
    """The line that matters among pytest's on a usage error."""
    found = re.search(r"error: (?!usage: )(.*)", errors, re.IGNORECASE)
    return found.group(1) if found else errors.strip() or "see above"


_CRASHED = "the process that ran this law ended before its verdict: did the decoder crash?"
_NOT_RUN = "not run: pytest's options left this law out, or the run stopped before it"


def _collect(
    laws: list[str], run_dir: Path, *, interrupted: bool
) -> tuple[list[Verdict], dict[str, Path]]:
    verdicts, saved = [], {}
    for law in laws:
        path = run_dir / f"{law}.json"
        if path.exists():
            kept = json.loads(path.read_text())
            verdicts.append(Verdict.from_wire(kept["verdict"]))
            if kept["saved"]:
                saved[law] = Path(kept["saved"])
        elif not interrupted:
            begun = (run_dir / f"{law}.count").exists()
            message = _CRASHED if begun else _NOT_RUN
            verdicts.append(Verdict(law, Answer.ERROR, message=message))
    return verdicts, saved


@contextlib.contextmanager
def _progress_bar(examples: int, laws: list[str], run_dir: Path) -> Iterator[None]:
    """A bar on the terminal's error stream, fed by the notes that the law runner leaves."""
    # pytest redirects the stream itself while a test runs; a duplicate of it is out of its reach.
    with os.fdopen(os.dup(2), "w") as stream:
        console = Console(file=stream)
        if not console.is_terminal:
            yield
            return
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task("checking", total=examples * len(laws))
            stop = threading.Event()

            def watch() -> None:
                while not stop.wait(0.1):
                    running = _counts(laws, run_dir)
                    finished = sum((run_dir / f"{law}.json").exists() for law in laws)
                    progress.update(
                        task,
                        completed=finished * examples + sum(running.values()),
                        description=", ".join(running) or "checking",
                    )

            watcher = threading.Thread(target=watch, daemon=True)
            watcher.start()
            try:
                yield
            finally:
                stop.set()
                watcher.join()


def _counts(laws: list[str], run_dir: Path) -> dict[str, int]:
    """Cases tried so far by the laws that are running."""
    counts = {}
    for law in laws:
        if not (run_dir / f"{law}.json").exists():
            with contextlib.suppress(OSError, ValueError):
                counts[law] = int((run_dir / f"{law}.count").read_text())
    return counts
