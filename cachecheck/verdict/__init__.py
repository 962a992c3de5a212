"""Verdicts: the findings of a law as plain data, and each reason in a sentence."""

from cachecheck.verdict.data import (
    Answer,
    Finding,
    Verdict,
    Violation,
    exit_code,
)
from cachecheck.verdict.reason import Code, Margin, Reason

__all__ = [
    "Answer",
    "Code",
    "Finding",
    "Margin",
    "Reason",
    "Verdict",
    "Violation",
    "exit_code",
]
