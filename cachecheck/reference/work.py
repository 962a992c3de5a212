"""Counts of work, made where it is done. Tests and audit have the closed forms to compare with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Work:
    """A running count, added to by the code that multiplies.

    Attributes:
        projected_rows: input rows multiplied by a query, key or value matrix.
        score_elements: attention scores allocated, later masked ones included, over all heads.
    """

    projected_rows: int = 0
    score_elements: int = 0
