"""Reasons for an answer, as data: a code, and the values that belong to it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Code(StrEnum):
    """The reasons that a verdict can give, beside a violation."""

    # UNSUPPORTED
    NOT_OFFERED = "not offered"
    REFUSED = "refused"
    NO_CASE = "no case"

    # Notes beside any answer
    LEFT_OUT = "cases left out"
    CUT_SHORT = "programs cut short"
    NOT_CROSSED = "window not crossed"
    PROMISED = "promised"
    HIDDEN = "hidden by rounding"
    UNFINISHED = "unfinished"
    UNREPEATABLE = "unrepeatable"
    NOT_STORED = "not stored"

    # INCONCLUSIVE: differences that may be rounding
    DOUBTFUL = "doubtful"
    UNDECLARED = "undeclared precision"
    FULL_AS_FAR = "full pass as far from float64"
    NO_ROOM = "no room"
    BEYOND_NOISE = "beyond noise"
    TOO_FAINT = "too faint"

    # INCONCLUSIVE: nothing could have been found
    MOSTLY_REFUSED = "mostly refused"
    NO_HISTORY = "no history"
    SINGLE_TOKENS = "single tokens alone"
    CONSTANT_ROWS = "constant rows"
    OWN_ROW_ALONE = "own token alone"
    ONE_EARLIER = "one earlier token"
    IDLE_CACHE = "idle cache"

    # ERROR
    RAISED = "raised"
    HANGS = "hangs"
    HANGS_NATIVE = "hangs in native code"
    CRASHED = "crashed"
    NOT_RUN = "not run"
    TARGET = "target"
    OUR_OWN = "failure of ours"


@dataclass(frozen=True)
class Margin:
    """The room between rounding and the mildest mistake, relative to an entry's size.

    Attributes:
        noise: size of rounding.
        tolerance: largest difference that is called equal: the usual one, or less where the signal
            asks for it.
        signal: size of the mildest relevant mistake; None where no earlier token moves a row.
        probe: the mistake that was tried: the ``influence`` of a token, or the ``order`` of two.
        length: tokens of the sequence that it was measured on.
    """

    noise: float
    tolerance: float
    signal: float | None
    probe: str
    length: int


@dataclass(frozen=True)
class Reason:
    """One reason; its code determines the values that are set (see sentences.py).

    Attributes:
        code: the kind of reason.
        quoted: the decoder's own words, members of it, or a place in its code.
        count: cases, programs, or tokens.
        of: the total that the count is out of.
        value: a difference, or a share of a tolerance.
        bound: the number that the value is compared with.
        margin: the room that was measured.
        precision: of the arithmetic concerned.
        has_float64: True if the decoder can be run in float64.
    """

    code: Code
    quoted: str = ""
    count: int | None = None
    of: int | None = None
    value: float | None = None
    bound: float | None = None
    margin: Margin | None = None
    precision: str = ""
    has_float64: bool = False
