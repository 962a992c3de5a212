"""Reasons in plain English: one sentence each, with what to do. Nothing is decided by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from cachecheck.verdict.reason import Code, Margin, Reason

MISTAKES: Mapping[str, str] = MappingProxyType(
    {"influence": "hiding or leaking one key", "order": "positions that are one off"}
)
"""The mildest mistake by the probe that stands for it."""


def sentence(reason: Reason) -> str:
    """``reason`` for a reader, without a full stop."""
    return _SENTENCES[reason.code](reason)


def _advice(reason: Reason) -> str:
    if reason.has_float64:
        return "shorter sequences or weights of unit scale would settle it"
    return "shorter sequences, weights of unit scale or float64 (as_float64) would settle it"


def _doubtful(reason: Reason) -> str:
    cure = "run it with fewer layers and shorter sequences"
    if reason.precision != "float64":
        cure += ", or in float64"
    return (
        f"up to {reason.value:.1f} times the tolerance in {reason.count} of {reason.of} cases: a "
        f"mistake, or rounding in an ill-conditioned decoder; {cure}"
    )


def _undeclared(reason: Reason) -> str:
    return (
        f"differences like {reason.value:.1e} in {reason.count} of {reason.of} cases: too large "
        "for rounding in float64, small enough for float32; declare the dtype of its arithmetic: "
        "float32 if it is that anywhere, or float64, which makes this a violation"
    )


def _full_as_far(reason: Reason) -> str:
    return (
        f"rows differ by up to {reason.value:.1f} times the tolerance in {reason.count} of "
        f"{reason.of} cases, and so does the full pass from its own float64 "
        f"({reason.bound:.1f} times): in {reason.precision} a mild mistake would look the same; "
        "check the float64 decoder by itself"
    )


def _no_room(reason: Reason) -> str:
    margin = reason.margin or Margin(0.0, 0.0, 0.0, "influence", 0)
    return (
        f"no room: {MISTAKES[margin.probe]} would move rows of {margin.length} tokens by as "
        f"little as {margin.signal or 0:.1e} of their size. That should be three times what is "
        f"called equal, {margin.tolerance:.1e}, since rounding may come to {margin.noise:.1e}; "
        f"{_advice(reason)}"
    )


def _beyond_noise(reason: Reason) -> str:
    return (
        f"rows differ by up to {reason.value:.1e} of their size, within the usual tolerance and "
        "many times what rounding comes to in full passes of this decoder "
        f"({reason.bound:.1e}): a mild mistake, or a cached path that rounds more; "
        f"{_advice(reason)}"
    )


def _too_faint(reason: Reason) -> str:
    return (
        f"changing a cached token moves later rows by {reason.value:.1e} at most, within the "
        f"tolerance of {reason.bound:.1e}: mistakes in the cache would look like rounding; use "
        "larger weights, shorter sequences or float64"
    )


def _nothing(why: str) -> Callable[[Reason], str]:
    def said(reason: Reason) -> str:
        refused = f" ({reason.count} cases were refused: {reason.quoted})" if reason.count else ""
        return f"nothing was found, and nothing could have been: {why}{refused}"

    return said


_SENTENCES: Mapping[Code, Callable[[Reason], str]] = MappingProxyType(
    {
        Code.NOT_OFFERED: lambda reason: f"not offered: {reason.quoted}",
        Code.REFUSED: lambda reason: reason.quoted,
        Code.NO_CASE: lambda _reason: "no case to try",
        Code.LEFT_OUT: lambda reason: f"{reason.count} cases left out: {reason.quoted}",
        Code.CUT_SHORT: lambda reason: f"{reason.count} programs ended early: {reason.quoted}",
        Code.NOT_CROSSED: lambda reason: (
            f"the window of {reason.count} was never crossed: nothing is known about it; give "
            f"--max-length {2 * (reason.count or 0) + 2}"
        ),
        Code.PROMISED: lambda reason: (
            f"equal within the atol of {reason.value:.1e} that it promises: less than that cannot "
            "show"
        ),
        Code.HIDDEN: lambda reason: f"seen in float64; rounding hides it in {reason.precision}",
        Code.UNFINISHED: lambda _reason: (
            "interrupted while shrinking: a smaller schedule may exist"
        ),
        Code.UNREPEATABLE: lambda _reason: (
            "wrong once, right when tried again, so that rows depend on something outside the "
            "cache: on earlier calls (state kept in the decoder, a buffer not cleared) or on "
            "randomness (dropout: call eval); the case shown may not fail by itself"
        ),
        Code.NOT_STORED: lambda reason: f"could not be stored in {reason.quoted}",
        Code.DOUBTFUL: _doubtful,
        Code.UNDECLARED: _undeclared,
        Code.FULL_AS_FAR: _full_as_far,
        Code.NO_ROOM: _no_room,
        Code.BEYOND_NOISE: _beyond_noise,
        Code.TOO_FAINT: _too_faint,
        Code.MOSTLY_REFUSED: lambda reason: (
            f"refused in {reason.count} of {reason.of} cases, nearly all that have a history: "
            f"{reason.quoted}"
        ),
        Code.NO_HISTORY: _nothing("no call was made onto a history, so that no cache was used"),
        Code.SINGLE_TOKENS: _nothing(
            "no call of two or more tokens was made onto a history, where most mistakes are"
        ),
        Code.CONSTANT_ROWS: _nothing("rows are the same whatever the tokens"),
        Code.OWN_ROW_ALONE: _nothing(
            "no row depends on a token before its own: attention, or the cache, is not at work"
        ),
        Code.ONE_EARLIER: _nothing(
            "no row depends on more than one earlier token: attention is degenerate (declare "
            "window = 2 if rows are to see no further)"
        ),
        Code.IDLE_CACHE: _nothing(
            "no cached token moves the rows of a later call: the cache is not used"
        ),
        Code.RAISED: lambda reason: reason.quoted,
        Code.HANGS: lambda reason: (
            f"{reason.quoted}; the case is as it was drawn: each attempt to shrink it would hang "
            "as well"
        ),
        Code.HANGS_NATIVE: lambda reason: (
            "a call did not return in time and could not be interrupted: the decoder hangs in "
            f"native code, called from {reason.quoted}; its process was ended"
        ),
        Code.CRASHED: lambda _reason: (
            "the process that ran this law ended before its verdict: did the decoder crash?"
        ),
        Code.NOT_RUN: lambda _reason: (
            "not run: pytest's options left this law out, or the run stopped before it"
        ),
        Code.TARGET: lambda reason: reason.quoted,
        Code.OUR_OWN: lambda reason: f"cachecheck itself failed: {reason.quoted}; please report it",
    }
)
