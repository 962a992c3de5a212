"""The command line: a thin face. Each command imports what it needs when it runs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from cachecheck import __version__
from cachecheck.cli import certify, experiment, faults, fuzz, laws, replay, shrink, zoo
from cachecheck.errors import CachecheckError

_DESCRIPTION = """\
Check that decoding with a KV cache gives the rows of one full pass, however the tokens are cut
into calls. A decoder is checked through three functions and a number:

  vocab_size
  full(tokens) -> rows                     every row in one pass, no cache
  new_cache() -> cache                     opaque to cachecheck
  extend(tokens, cache) -> (rows, cache)   a chunk of new tokens onto a cache

What else it offers (fork, crop, save, batches ...) is found by presence; cachecheck laws --members
lists it.
"""

_EPILOG = """\
examples:
  cachecheck fuzz reference                  the built-in reference decoder, in many configurations
  cachecheck fuzz my_decoder.py:make -n auto   your own, on all cores
  cachecheck fuzz hf:llama                   Hugging Face's Llama code, tiny random weights
  cachecheck fuzz reference --fault copying-mask-one-far   see a deliberate mistake found
  cachecheck certify my_decoder.py:make --length 12
  cachecheck shrink my_decoder.py:make 2048+2048+1023
  cachecheck replay evidence/regressions/my-decoder-schedule-1a2b3c4d.json
  cachecheck zoo transformers --only llama,mamba
  cachecheck run --out results && cachecheck audit results

exit codes: 0 holds, 1 violated, 2 could not run, 3 inconclusive, 130 interrupted
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options, rest = _split(given)
    parsed = _parser().parse_args(options)
    parsed.pytest_options = tuple(rest)
    try:
        return int(parsed.command(parsed))
    except CachecheckError as error:
        print(f"cachecheck: {error}", file=sys.stderr)  # noqa: T201
        return 2
    except KeyboardInterrupt:
        print("cachecheck: interrupted", file=sys.stderr)  # noqa: T201
        return 130


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Our own arguments, and what follows ``--`` and is pytest's."""
    if "--" not in arguments:
        return arguments, []
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1 :]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="cachecheck",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"cachecheck {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for face in (fuzz, laws, faults, certify, shrink, replay, zoo, experiment):
        face.add(commands)
    return parser
