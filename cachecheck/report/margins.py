"""The room that a run had between rounding and the mildest mistake, in a line."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cachecheck.search.sentences import MISTAKES
from cachecheck.verdict import Margin, Verdict


def margin_line(verdicts: Sequence[Verdict]) -> str:
    """The smallest margin of all laws that needed a tolerance; empty where none did."""
    margins = [verdict.margin for verdict in verdicts if verdict.margin is not None]
    if not margins:
        return ""
    least = min(margins, key=_ratio)
    if least.signal is None:
        return ""
    sign = "<" if least.signal > least.tolerance else ">"
    return (
        f"margin  rounding {least.noise:.1e} < tolerance {least.tolerance:.1e} {sign} mildest "
        f"mistake {least.signal:.1e} of an entry's size\n        ({MISTAKES[least.probe]}, in "
        f"sequences of {least.length} tokens)"
    )


def _ratio(margin: Margin) -> float:
    return math.inf if margin.signal is None else margin.signal / margin.tolerance
