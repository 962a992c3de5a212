"""Reasons in plain English: one sentence each, with what to do. Nothing is decided by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from cachecheck.verdict.reason import Code, Margin, Reason

MISTAKES: Mapping[str, str] = MappingProxyType(
    {"influence": "hiding or leaking one key", "order": "positions that are one off"}
)
"""The mildest mistake, by the probe that stands for it."""


def sentence(reason: Reason) -> str:
    """``reason`` for a reader, without a full stop."""
    return _SENTENCES[reason.code](reason)


def _advice(reason: Reason) -> str:
    if reason.has_float64:
        return "try shorter sequences, or weights of unit scale"
    return "try shorter sequences, weights of unit scale, or offer as_float64()"


def _doubtful(reason: Reason) -> str:
    cure = "try it with fewer layers and shorter sequences"
    if reason.precision != "float64":
        cure += ", or in float64"
    return (
        f"rows differ by up to {reason.value:.1f} times the tolerance in {reason.count} of "
        f"{reason.of} cases: a mistake, or rounding in an ill-conditioned decoder; {cure}"
    )


def _undeclared(reason: Reason) -> str:
    return (
        f"rows differ by about {reason.value:.1e} in {reason.count} of {reason.of} cases: too much "
        "for rounding in float64, but not in float32; declare the decoder's dtype: float32 if any "
        "of its arithmetic is float32, else float64, which makes this a violation"
    )


def _full_as_far(reason: Reason) -> str:
    return (
        f"rows differ by up to {reason.value:.1f} times the tolerance in {reason.count} of "
        f"{reason.of} cases, and the full pass alone differs as much from float64 "
        f"({reason.bound:.1f} times): in {reason.precision} a mild mistake would look the same; "
        "check the float64 decoder by itself"
    )


def _no_room(reason: Reason) -> str:
    margin = reason.margin or Margin(0.0, 0.0, 0.0, "influence", 0)
    return (
        f"a mild mistake could hide in rounding: {MISTAKES[margin.probe]} would change rows of "
        f"{margin.length} tokens by as little as {margin.signal or 0:.1e} of their size, which is "
        f"less than three times the tolerance of {margin.tolerance:.1e}; rounding may reach "
        f"{margin.noise:.1e}; {_advice(reason)}"
    )


def _beyond_noise(reason: Reason) -> str:
    return (
        f"rows differ by up to {reason.value:.1e} of their size: within the usual tolerance, but "
        f"many times the rounding of this decoder's full passes ({reason.bound:.1e}); a mild "
        "mistake, or a cached path that rounds more; "
        f"{_advice(reason)}"
    )


def _too_faint(reason: Reason) -> str:
    return (
        f"changing a cached token changes later rows by {reason.value:.1e} at most, within the "
        f"tolerance of {reason.bound:.1e}: mistakes in the cache would look like rounding; try "
        "larger weights, shorter sequences or float64"
    )


def _could_not_fail(why: str) -> Callable[[Reason], str]:
    def said(reason: Reason) -> str:
        refused = f" ({reason.count} cases were refused: {reason.quoted})" if reason.count else ""
        return f"no mistake could have been found: {why}{refused}"

    return said


_SENTENCES: Mapping[Code, Callable[[Reason], str]] = MappingProxyType(
    {
        Code.NOT_OFFERED: lambda reason: f"not offered: {reason.quoted}",
        Code.REFUSED: lambda reason: reason.quoted,
        Code.NO_CASE: lambda _reason: "no case to try",
        Code.LEFT_OUT: lambda reason: f"{reason.count} cases left out: {reason.quoted}",
        Code.CUT_SHORT: lambda reason: f"{reason.count} programs ended early: {reason.quoted}",
        Code.NOT_CROSSED: lambda reason: (
            f"no case crossed the window of {reason.count}, so it was not checked; give "
            f"--max-length {2 * (reason.count or 0) + 2}"
        ),
        Code.PROMISED: lambda reason: (
            f"equal within the atol of {reason.value:.1e} that the decoder promises: a mistake "
            "smaller than that cannot be found"
        ),
        Code.HIDDEN: lambda reason: f"found in float64; in {reason.precision} rounding hides it",
        Code.UNFINISHED: lambda _reason: (
            "interrupted while shrinking: a smaller schedule may exist"
        ),
        Code.UNREPEATABLE: lambda _reason: (
            "wrong once and right when tried again, so rows depend on something outside the cache: "
            "earlier calls (state kept in the decoder, a buffer not cleared) or randomness "
            "(dropout: call eval); the case shown may not fail by itself"
        ),
        Code.NOT_STORED: lambda reason: f"could not be stored in {reason.quoted}",
        Code.DOUBTFUL: _doubtful,
        Code.UNDECLARED: _undeclared,
        Code.FULL_AS_FAR: _full_as_far,
        Code.NO_ROOM: _no_room,
        Code.BEYOND_NOISE: _beyond_noise,
        Code.TOO_FAINT: _too_faint,
        Code.MOSTLY_REFUSED: lambda reason: (
            f"the decoder refused {reason.count} of {reason.of} cases, nearly all that have a "
            f"history: {reason.quoted}"
        ),
        Code.NO_HISTORY: _could_not_fail("no call was made on a filled cache"),
        Code.SINGLE_TOKENS: _could_not_fail(
            "no call of two or more tokens was made on a filled cache, where most mistakes are"
        ),
        Code.CONSTANT_ROWS: _could_not_fail("rows are the same for all tokens"),
        Code.OWN_ROW_ALONE: _could_not_fail(
            "no row depends on an earlier token: attention, or the cache, has no effect"
        ),
        Code.ONE_EARLIER: _could_not_fail(
            "no row depends on more than one earlier token: attention is degenerate (declare "
            "window = 2 if rows are meant to see no further)"
        ),
        Code.IDLE_CACHE: _could_not_fail(
            "no cached token changes the rows of a later call: the cache is not used"
        ),
        Code.RAISED: lambda reason: reason.quoted,
        Code.HANGS: lambda reason: (
            f"{reason.quoted}; the case was not shrunk, since each attempt would hang as well"
        ),
        Code.HANGS_NATIVE: lambda reason: (
            "a call did not return in time and could not be interrupted: the decoder hangs in "
            f"native code, called from {reason.quoted}; its process was ended"
        ),
        Code.CRASHED: lambda _reason: (
            "the process that ran this law ended without a verdict; perhaps the decoder crashed it"
        ),
        Code.NOT_RUN: lambda _reason: (
            "not run: pytest's options left this law out, or the run stopped before it"
        ),
        Code.TARGET: lambda reason: reason.quoted,
        Code.OUR_OWN: lambda reason: f"cachecheck itself failed: {reason.quoted}; please report it",
    }
)
