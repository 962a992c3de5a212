"""What a law found: plain data, and each part of it in a sentence."""

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
