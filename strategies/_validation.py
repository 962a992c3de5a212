"""Arguments checked where a strategy is defined, in Hypothesis' own error class."""

from __future__ import annotations

from typing import Any

from hypothesis.errors import InvalidArgument


def check_integer(name: str, value: Any, *, least: int) -> None:
    """Raise InvalidArgument unless ``value`` is an integer >= ``least``."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidArgument(f"{name}={value!r} must be an integer >= {least}")


def check_interval(low_name: str, low: Any, high_name: str, high: Any, *, least: int) -> None:
    """Raise InvalidArgument unless ``least <= low <= high``, all of them integers."""
    check_integer(low_name, low, least=least)
    check_integer(high_name, high, least=least)
    if low > high:
        raise InvalidArgument(f"{low_name}={low} must not exceed {high_name}={high}")
