"""The laws through pytest: the suite of ``cachecheck fuzz``, with options of our own."""

from __future__ import annotations

import contextlib
import io
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cachecheck.commands.fuzz_options import FuzzOptions
from cachecheck.commands.progress import progress_bar
from cachecheck.errors import InputError
from cachecheck.session.run_folder import RunFolder


def run_suite(options: FuzzOptions, laws: list[str], run_folder: RunFolder) -> tuple[int, str]:
    """Run pytest on ``suite.py``, quiet, away from the user's own configuration.

    Returns:
        pytest's exit status, and what it has printed.

    Raises:
        InputError: pytest refuses its options.
    """
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(_own_environment(run_folder.path))
        if not options.pdb:
            stack.enter_context(
                progress_bar(laws, run_folder, cases=options.cases, seconds=options.seconds)
            )
            stack.enter_context(contextlib.redirect_stdout(output))
            stack.enter_context(contextlib.redirect_stderr(errors))
        try:
            status = int(pytest.main(_arguments(options, laws, run_folder)))
        except Exception as error:  # noqa: BLE001 - a decoder may close what pytest writes to
            said = " ".join(f"{type(error).__name__}: {error}".split())
            ended = f"pytest itself failed ({said}); does the decoder close sys.stdout?"
            return int(pytest.ExitCode.INTERNAL_ERROR), ended
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
    if options.pdb:  # there is no place to look at where a law is inconclusive
        arguments += ["--pdb", "--cachecheck-allow-inconclusive"]
    return arguments


@contextlib.contextmanager
def _own_environment(run_folder: Path) -> Iterator[None]:
    """Leave out what configures the user's own tests; Hypothesis writes out of sight."""
    pytests = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")
    users = {name: os.environ.pop(name) for name in pytests if name in os.environ}
    storage = "HYPOTHESIS_STORAGE_DIRECTORY"
    given = storage in os.environ
    os.environ.setdefault(storage, str(run_folder / "hypothesis"))
    try:
        yield
    finally:
        os.environ.update(users)
        if not given:
            os.environ.pop(storage, None)  # a decoder may have cleared it all


def _refusal(errors: str) -> str:
    """The line that matters among pytest's on a usage error."""
    found = re.search(r"error: (?!usage: )(.*)", errors, re.IGNORECASE)
    return found.group(1) if found else errors.strip() or "see above"
