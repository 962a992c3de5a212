"""``cachecheck fuzz``: the laws through pytest, with a progress bar and a report of our own."""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from cachecheck.commands.progress import progress_bar
from cachecheck.errors import InputError
from cachecheck.files import write_whole
from cachecheck.laws import LAWS
from cachecheck.pytest_plugin import EFFORTS
from cachecheck.report.covered import print_coverage
from cachecheck.report.renderers import json, renderer_for
from cachecheck.report.summary import summarised, versions
from cachecheck.report.terminal import heading, print_plain, print_report
from cachecheck.session.run_folder import RunFolder, ShardResult, merged
from cachecheck.verdict import Answer, Code, Reason, Verdict, exit_code

INTERRUPTED = 130  # 128 + SIGINT, as shells have it


@dataclass(frozen=True)
class FuzzOptions:
    """What the command line asks for.

    Attributes:
        target: name of the decoder.
        laws: ids, all when empty.
        seed: of cases and weights.
        effort: a key of ``pytest_plugin.EFFORTS``.
        examples: cases a law, whatever the effort; None to leave it to that.
        seconds: go on for so long in place of a number of cases; None: do not.
        max_length: longest sequence, None for the default.
        call_timeout: seconds that one call of the decoder may take, None for ever.
        json_file: where verdicts go as JSON, None for nowhere.
        report: where the report goes, in the format that the suffix names; None for nowhere.
        save: folder for failing cases.
        workers: pytest-xdist's ``-n``, None for this process.
        shards: tests a law, with cases of their own.
        pdb: enter the debugger where a law fails.
        junitxml: pytest's own report file.
        pytest_options: anything else for pytest.
    """

    target: str
    laws: tuple[str, ...] = ()
    seed: int = 0
    effort: str = "ci"
    examples: int | None = None
    seconds: float | None = None
    max_length: int | None = None
    call_timeout: float | None = None
    json_file: Path | None = None
    report: Path | None = None
    save: Path = Path("evidence/regressions")
    workers: str | None = None
    shards: int = 1
    pdb: bool = False
    junitxml: Path | None = None
    pytest_options: tuple[str, ...] = ()

    @property
    def cases(self) -> int:
        """Cases a law."""
        return EFFORTS[self.effort] if self.examples is None else self.examples

    @property
    def reports(self) -> tuple[Path, ...]:
        """Files that a report is to be written to."""
        return tuple(file for file in (self.json_file, self.report) if file is not None)

    @property
    def amount(self) -> str:
        """How much is asked for, in words."""
        if self.seconds is None:
            return f"{self.cases} examples a law"
        return f"{self.seconds:g} seconds"


def fuzz(options: FuzzOptions, console: Console) -> int:
    """Run the laws, print the report, write what was asked for; return the exit code.

    Raises:
        InputError: an unknown law, options that pytest refuses, or a JSON file or a folder for
            failing cases that cannot be written.
    """
    laws = _chosen(options.laws)
    _check_places(options)
    print_plain(console, heading(options.target, options.seed, options.amount, versions()))
    # A worker that is on its way out may still write there.
    with tempfile.TemporaryDirectory(prefix="cachecheck-", ignore_cleanup_errors=True) as folder:
        run_folder = RunFolder(Path(folder), options.shards)
        status, output = _run_pytest(options, laws, run_folder)
        interrupted = status == pytest.ExitCode.INTERRUPTED
        found = _collect(laws, run_folder, interrupted=interrupted)
        running = run_folder.running(laws)
    if options.pdb:  # quitting the debugger after the last law is no loss
        interrupted &= len(found) < len(laws)
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) and not interrupted:
        print_plain(console, output)
    verdicts = [one.verdict for one in found]
    saved = {one.verdict.law: str(one.saved) for one in found if one.saved is not None}
    summary = summarised(
        verdicts, options.target, seed=options.seed, amount=options.amount, saved=saved
    )
    if verdicts:
        print_report(console, summary)
    if options.seconds is not None:
        print_coverage(console, verdicts)
    if options.json_file is not None:
        _write(options.json_file, json.render(summary))
    if options.report is not None:
        _write(options.report, renderer_for(options.report)(summary))
    if interrupted:
        console.print(f"interrupted: {len(verdicts)} of {len(laws)} laws were done")
        for law, progress in running.items():
            line = f"  {law}: none of {progress['count']} cases had failed"
            console.print(line, highlight=False)
        return INTERRUPTED
    return exit_code(verdicts)


def _write(file: Path, text: str) -> None:
    try:
        write_whole(file, text)
    except OSError as error:
        raise InputError(f"cannot write {file}: {error.strerror}") from error


def _chosen(wanted: Sequence[str]) -> list[str]:
    for law in wanted:
        if law not in LAWS:
            raise InputError(f"unknown law {law!r}; known: {', '.join(LAWS)}")
    return [law for law in LAWS if not wanted or law in wanted]


def _check_places(options: FuzzOptions) -> None:
    """Refuse what could not be written in the end, before any time is spent."""
    if options.report is not None:
        renderer_for(options.report)
    for file in options.reports:
        if not file.parent.is_dir():
            raise InputError(f"cannot write {file}: no folder {file.parent}")
    for file in filter(None, (*options.reports, options.junitxml)):
        if file.is_dir():
            raise InputError(f"cannot write {file}: it is a folder; name a file")
    for path in filter(None, (options.save / "a-case.json", options.junitxml)):
        for place in path.parents:  # pytest and we make folders that are not there yet
            if place.exists() and not place.is_dir():
                raise InputError(f"cannot write into {path.parent}: {place} is no folder")


def _run_pytest(options: FuzzOptions, laws: list[str], run_folder: RunFolder) -> tuple[int, str]:
    """Run pytest on ``suite.py``, quiet, away from the user's own configuration."""
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(_own_environment(run_folder.path))
        if not options.pdb:
            stack.enter_context(
                progress_bar(laws, run_folder, cases=options.cases, seconds=options.seconds)
            )
            stack.enter_context(contextlib.redirect_stdout(output))
            stack.enter_context(contextlib.redirect_stderr(errors))
        status = int(pytest.main(_arguments(options, laws, run_folder)))
    if status == pytest.ExitCode.USAGE_ERROR:
        raise InputError(f"pytest refused its options: {_refusal(errors.getvalue())}")
    return status, output.getvalue() + errors.getvalue()


def _arguments(options: FuzzOptions, laws: list[str], run_folder: RunFolder) -> list[str]:
    arguments = [
        str(Path(__file__).parent.parent / "session" / "suite.py"),
        *("-c", os.devnull, "--rootdir", str(Path.cwd()), "--noconftest"),
        "--assert=plain",  # nothing here asserts, and pytest would rewrite all of Hypothesis
        *("-p", "cachecheck.pytest_plugin", "-p", "no:cacheprovider"),
        *("--cachecheck-target", options.target, "--cachecheck-laws", ",".join(laws)),
        *("--cachecheck-seed", str(options.seed), "--cachecheck-examples", str(options.cases)),
        *("--cachecheck-save", str(options.save), "--cachecheck-run-dir", str(run_folder.path)),
        *("--cachecheck-shards", str(options.shards)),
    ]
    if options.seconds is not None:
        arguments += ["--cachecheck-until", str(time.time() + options.seconds)]
    if options.max_length is not None:
        arguments += ["--cachecheck-max-length", str(options.max_length)]
    if options.call_timeout is not None:
        arguments += ["--cachecheck-call-timeout", str(options.call_timeout)]
    workers = options.workers
    if workers is None and options.call_timeout is not None and not options.pdb:
        workers = "1"  # a call that hangs in native code can only be ended with its process
    if workers is not None:
        arguments += ["-n", workers]
    if options.junitxml is not None:
        arguments += [f"--junitxml={options.junitxml}"]
    arguments += options.pytest_options
    return [*arguments, "--pdb"] if options.pdb else arguments


@contextlib.contextmanager
def _own_environment(run_folder: Path) -> Iterator[None]:
    """Leave out what configures the user's own tests; Hypothesis keeps its notes out of sight."""
    pytests = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")
    kept = {name: os.environ.pop(name) for name in pytests if name in os.environ}
    notes = "HYPOTHESIS_STORAGE_DIRECTORY"
    given = notes in os.environ
    os.environ.setdefault(notes, str(run_folder / "hypothesis"))
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


def _collect(laws: list[str], run_folder: RunFolder, *, interrupted: bool) -> list[ShardResult]:
    """What each law found; an interrupted run has nothing of some."""
    found = []
    for law in laws:
        kept = run_folder.finished(law)
        if len(kept) < run_folder.shards and not interrupted:
            kept.append(
                ShardResult(Verdict(law, Answer.ERROR, reasons=(_lost(law, run_folder),)), None)
            )
        if kept:
            found.append(merged(kept))
    return found


def _lost(law: str, run_folder: RunFolder) -> Reason:
    """Why a law that was asked for has no verdict."""
    place = run_folder.hung_at(law)
    if place is not None:
        return Reason(Code.HANGS_NATIVE, quoted=place)
    return Reason(Code.CRASHED if law in run_folder.running([law]) else Code.NOT_RUN)
