"""Every partition of a sequence, by a tree of forks: each beginning of a schedule is run once."""

from __future__ import annotations

from typing import Any

from cachecheck.certify.certificate import Certificate
from cachecheck.certify.oracle import Oracle
from cachecheck.judge import concluded
from cachecheck.schedule import Schedule
from cachecheck.verdict import Answer, Violation

_SHARED = (
    "Common beginnings are run once and forked: it is assumed that a fork is as good as its source "
    "(the law branch)."
)

SizeKey = tuple[int, int, tuple[int, ...]]
"""The size of a plain schedule: tokens, calls, chunks."""


class Tree:
    """A walk over all partitions, depth first; below a failing call there is nothing to learn."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.best: tuple[SizeKey, Violation] | None = None

    def walk(self) -> None:
        """Visit every node; ``best`` is then the smallest failing schedule, if any fails."""
        self._visit((), 0, self.oracle.decoder.new_cache())

    def _visit(self, chunks: tuple[int, ...], start: int, cache: Any) -> None:
        """Extend one cache in every way; ``cache`` holds the first ``start`` tokens."""
        last = len(self.oracle.tokens)
        for stop in range(start + 1, last + 1):
            if self.best is not None and stop > self.best[0][0]:
                return  # longer than what fails already
            grown = (*chunks, stop - start)
            own = self.oracle.decoder.fork(cache)
            found, after = self.oracle.extend(start, stop, own, self.oracle.partition(grown))
            broken = found.finding.violation
            if not found.wrong or broken is None:
                self._visit(grown, stop, after)
            else:
                key = (stop, len(grown), grown)
                if self.best is None or key < self.best[0]:
                    self.best = (key, broken)
            self.oracle.decoder.release(after)


def by_tree(oracle: Oracle) -> Certificate:
    """Run every one of the 2^(N-1) partitions, common beginnings once: 2^N - 1 calls."""
    tree = Tree(oracle)
    tree.walk()
    length = len(oracle.tokens)
    covered = 2 ** (length - 1)
    run = (
        f"Each of the {covered:,} ways to cut these {length} tokens into calls was run and gives "
        "the rows of the full pass."
    )
    method = "prefix tree of forks"
    if tree.best is None:
        verdict = concluded(oracle.tally)
        return Certificate(
            "schedule",
            verdict.answer,
            method,
            covered,
            oracle.calls,
            (run, _SHARED),
            verdict.largest_difference or 0.0,
            reasons=verdict.reasons,
        )
    (stop, _, chunks), violation = tree.best
    return Certificate(
        "schedule",
        Answer.VIOLATED,
        method,
        covered,
        oracle.calls,
        ("No schedule of fewer tokens fails, and none of as many tokens in fewer calls.",),
        violation.difference or 0.0,
        schedule=str(Schedule.of(chunks)),
        tokens=oracle.tokens[:stop],
        violation=violation,
    )
