"""Values of options: read, or refused in one line that says what was expected."""

from __future__ import annotations

import argparse
import re
from typing import TypeAlias

from cachecheck.engines.registry import target_forms

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001

TARGET = f"""\
what to check: reference, reference:NAME (a kind of cache), fault:ID, package.module:factory,
path/file.py:factory, or {target_forms()}. A factory takes a seed and returns a decoder; one without
parameters, or a ready decoder, will do as well
"""

EXITS = "exit codes: 0 holds, 1 violated, 2 could not run, 3 inconclusive, 130 interrupted"


def seconds(text: str) -> float:
    """``90s``, ``10m``, ``1h``, or plain seconds."""
    match = re.fullmatch(r"([0-9]*\.?[0-9]+)([smh]?)", text)
    value = float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]] if match else 0.0
    if value <= 0:
        raise argparse.ArgumentTypeError(f"expected a time like 90s, 10m or 1h, got {text!r}")
    return value


def natural(text: str) -> int:
    """An integer >= 0."""
    return _integer(text, 0)


def positive(text: str) -> int:
    """An integer >= 1."""
    return _integer(text, 1)


def long_enough(text: str) -> int:
    """An integer >= 2: a sequence that can be cut."""
    return _integer(text, 2)


def workers(text: str) -> str:
    """A value for pytest-xdist's ``-n``."""
    if text not in ("auto", "logical") and not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number of processes or auto, got {text!r}")
    return text


def _integer(text: str, least: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if value < least:
        raise argparse.ArgumentTypeError(f"expected an integer >= {least}, got {text!r}")
    return value
