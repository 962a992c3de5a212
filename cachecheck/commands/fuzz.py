"""``cachecheck fuzz``: the laws through pytest, with a progress bar and a report of our own."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from cachecheck.commands.fuzz_options import FuzzOptions
from cachecheck.commands.suite_run import run_suite
from cachecheck.errors import InputError
from cachecheck.files import write_whole
from cachecheck.laws import LAWS
from cachecheck.report.covered import print_coverage
from cachecheck.report.terminal import heading, print_plain, print_report, versions
from cachecheck.session.run_folder import RunFolder, ShardResult, merged
from cachecheck.verdict import Answer, Verdict, exit_code

INTERRUPTED = 130  # 128 + SIGINT, as shells have it
_ENDED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)


def fuzz(options: FuzzOptions, console: Console) -> int:
    """Run the laws, print the report, write what was asked for; return the exit code.

    Raises:
        InputError: an unknown law, options that pytest refuses, or a JSON file or a folder for
            failing cases that cannot be written.
    """
    laws = _chosen(options.laws)
    _check_places(options)
    print_plain(console, heading(options.target, options.seed, options.amount))
    # A worker that is on its way out may still write there.
    with tempfile.TemporaryDirectory(prefix="cachecheck-", ignore_cleanup_errors=True) as folder:
        run_folder = RunFolder(Path(folder), options.shards)
        status, output = run_suite(options, laws, run_folder)
        interrupted = status == pytest.ExitCode.INTERRUPTED
        found = _collect(laws, run_folder, interrupted=interrupted)
        running = run_folder.running(laws)
    if options.pdb:  # quitting the debugger after the last law is no loss
        interrupted &= len(found) < len(laws)
    crashed = status not in _ENDED
    if crashed:
        print_plain(console, output)
    verdicts = [one.verdict for one in found]
    if verdicts:
        replays = {one.verdict.law: one.replay for one in found if one.replay is not None}
        print_report(console, verdicts, options.target, replays)
    if options.seconds is not None:
        print_coverage(console, verdicts)
    if options.json_file is not None:
        _write_json(options, verdicts, options.json_file)
    if interrupted:
        console.print(f"interrupted: {len(verdicts)} of {len(laws)} laws were done")
        for law, progress in running.items():
            line = f"  {law}: none of {progress.cases} cases had failed"
            console.print(line, highlight=False)
        return INTERRUPTED
    return exit_code(verdicts) or (2 if crashed else 0)


def _write_json(options: FuzzOptions, verdicts: Sequence[Verdict], file: Path) -> None:
    report = {
        "target": options.target,
        "seed": options.seed,
        "versions": versions(),
        "verdicts": [verdict.to_json() for verdict in verdicts],
    }
    try:
        write_whole(file, json.dumps(report, indent=2) + "\n")
    except OSError as error:
        raise InputError(f"cannot write {file}: {error.strerror}") from error


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


_CRASHED = "the process that ran this law ended before its verdict: did the decoder crash?"
_HUNG = (
    "a call did not return in time and could not be interrupted: the decoder hangs in native code, "
    "called from {}; its process was ended"
)
_NOT_RUN = "not run: pytest's options left this law out, or the run stopped before it"


def _collect(laws: list[str], run_folder: RunFolder, *, interrupted: bool) -> list[ShardResult]:
    """The result of each law; an interrupted run has nothing of some."""
    found = []
    for law in laws:
        results = run_folder.finished(law)
        if len(results) < run_folder.shards and not interrupted:
            lost = Verdict(law, Answer.ERROR, message=_lost(law, run_folder))
            results.append(ShardResult(lost))
        if results:
            found.append(merged(results))
    return found


def _lost(law: str, run_folder: RunFolder) -> str:
    """The reason why a law has no verdict."""
    place = run_folder.hung_at(law)
    if place is not None:
        return _HUNG.format(place)
    return _CRASHED if law in run_folder.running([law]) else _NOT_RUN
