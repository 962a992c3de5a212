"""What a search has to say in words: one sentence each, with what to do."""

from __future__ import annotations

from collections.abc import Sequence

from cachecheck.guard import Guarded
from cachecheck.verdict import Finding, Margin

UNFINISHED = "interrupted while shrinking: a smaller schedule may exist"

UNREPEATABLE = (
    "wrong once, right when tried again, so that rows depend on something outside the cache: on "
    "earlier calls (state kept in the decoder, a buffer not cleared) or on randomness (dropout: "
    "call eval); the case shown may not fail by itself"
)


def in_doubt(decoder: Guarded, largest: float, difference: float, count: int, tried: int) -> str:
    """A difference beyond the tolerance that rounding of an unusual decoder could explain."""
    where = f"in {count} of {tried} cases"
    if decoder.precision == "float64" and decoder.capabilities.dtype is None:
        return (
            f"differences like {difference:.1e} {where}: too large for rounding in float64, small "
            "enough for float32; declare the dtype of its arithmetic: float32 if it is that "
            "anywhere, or float64, which makes this a violation"
        )
    cure = "run it with fewer layers and shorter sequences"
    if decoder.precision != "float64":
        cure += ", or in float64"
    return (
        f"up to {largest:.1f} times the tolerance {where}: a mistake, or rounding in an "
        f"ill-conditioned decoder; {cure}"
    )


def too_faint(most: Finding) -> str:
    """History moves rows, but by less than the tolerance."""
    return (
        f"changing a cached token moves later rows by {most.difference:.1e} at most, within the "
        f"tolerance of {most.tolerance:.1e}: mistakes in the cache would look like rounding; use "
        "larger weights, shorter sequences or float64"
    )


def mostly_refused(refusals: Sequence[str], drawn: int) -> str:
    """Too few cases with a history were left to conclude from."""
    count = len(refusals)
    return f"refused in {count} of {drawn} cases, nearly all that have a history: {refusals[0]}"


def left_out(refusals: Sequence[str]) -> str:
    """Some cases were refused; empty for none."""
    return f"{len(refusals)} cases left out: {refusals[0]}" if refusals else ""


def cut_short(refusals: Sequence[str]) -> str:
    """Some programs ended at a step that was refused; empty for none."""
    return f"{len(refusals)} programs ended early: {refusals[0]}" if refusals else ""


def not_crossed(window: int) -> str:
    """No case was longer than a window that the decoder has."""
    return (
        f"the window of {window} was never crossed: nothing is known about it; give --max-length "
        f"{2 * window + 2}"
    )


MISTAKES = {
    "influence": "hiding or leaking one key",
    "order": "positions that are one off",
}


def _advice(*, exact: bool) -> str:
    """What would settle it; ``exact``: the decoder offers float64 already."""
    if exact:
        return "shorter sequences or weights of unit scale would settle it"
    return "shorter sequences, weights of unit scale or float64 (as_float64) would settle it"


def no_room(margin: Margin, *, exact: bool) -> str:
    """The mildest mistake would look like rounding."""
    return (
        f"no room: {MISTAKES[margin.probe]} would move rows of {margin.length} tokens by as "
        f"little as {margin.signal:.1e} of their size. That should be three times what is called "
        f"equal, {margin.tolerance:.1e}, since rounding may come to {margin.noise:.1e}; "
        f"{_advice(exact=exact)}"
    )


def between(relative: float, margin: Margin, *, exact: bool) -> str:
    """Differences larger than rounding should be, and no larger than a mild mistake may be."""
    return (
        f"rows differ by up to {relative:.1e} of their size, within the usual tolerance and many "
        f"times what rounding comes to in full passes of this decoder ({margin.noise:.1e}): a mild "
        f"mistake, or a cached path that rounds more; {_advice(exact=exact)}"
    )


def for_nothing(reason: str) -> str:
    """Everything was equal, and could not have been otherwise."""
    return f"nothing was found, and nothing could have been: {reason}"


def promised(atol: float) -> str:
    """The decoder declares that its rows are only so close."""
    return f"equal within the atol of {atol:.1e} that it promises: less than that cannot show"
