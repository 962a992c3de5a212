"""Laws about cache operations: after any steps, a branch gives the rows of its own tokens.

They share one check and differ in the operations that their cases draw from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from cachecheck.errors import Unsupported
from cachecheck.guard import Guarded, Rows
from cachecheck.laws.base import Law
from cachecheck.laws.comparison import RowComparison, gather
from cachecheck.laws.runner import ScheduleRunner, SequenceRows
from cachecheck.schedule import Append, Case
from cachecheck.verdict import Finding, Violation

_ROWS = "after these steps a branch gives other rows than one full pass over its tokens"
_FULL_BATCH = "full_batch gives a sequence other rows than full does"


def check(law: str, operations: frozenset[str], decoder: Guarded, case: Case) -> Finding:
    """Run the schedule; compare every call's rows with ``full`` of all that its branch holds.

    Raises:
        Unsupported: the decoder refused a step before any of the law's operations was performed.
    """
    runner, expected = ScheduleRunner(decoder), _Expected(decoder, case)
    findings, at, refused, compared = [Finding(0.0, 0.0)], 0, "", False
    done: int | None = None
    for number, step in enumerate(case.schedule.steps, start=1):
        size = sum(step.sizes) if isinstance(step, Append) else 0
        try:
            sequences = runner.do(step, case.tokens[at : at + size])
        except Unsupported as refusal:
            if not compared:
                raise  # nothing was compared after one of the law's operations
            refused, done = str(refusal), number - 1  # the steps before it count
            break
        at += size
        compared |= bool(sequences) and bool(runner.performed & operations)
        some = [_compare(law, decoder, expected, number, one) for one in sequences]
        some += _invariants(law, decoder, number)
        findings += some
        if any(found.violation for found in some):
            return gather(findings)
    if "batch" in operations:
        findings += _full_batch(law, decoder, runner, expected)
    return replace(gather(findings), refusal=refused, done=done)


def _compare(
    law: str, decoder: Guarded, expected: _Expected, number: int, one: SequenceRows
) -> Finding:
    comparison = RowComparison(law, "rows", _ROWS)
    due = expected.of(one.tokens)[one.past :]
    bounds = decoder.bounds(due)
    return comparison.of(
        one.rows, due, bounds, position=one.past, call=number, sequence=one.sequence
    )


def _invariants(law: str, decoder: Guarded, number: int) -> list[Finding]:
    broken = decoder.broken_invariant()
    if broken is None:
        return []
    message = f"the decoder's own check_invariants fails after this step: {broken}"
    return [Finding(0.0, 0.0, Violation(law, "invariants", None, None, 0.0, message, call=number))]


def _full_batch(
    law: str, decoder: Guarded, runner: ScheduleRunner, expected: _Expected
) -> list[Finding]:
    if "full_batch" not in decoder.capabilities.offers:
        return []
    comparison = RowComparison(law, "full-batch", _FULL_BATCH)
    findings = []
    for branch in runner.branches.live.values():
        if branch.batch and all(branch.rows):
            given = enumerate(zip(branch.rows, decoder.full_batch(branch.rows), strict=True))
            for at, (tokens, rows) in given:
                due = expected.of(tokens)
                bounds = decoder.bounds(due)
                findings.append(comparison.of(rows, due, bounds, position=0, sequence=at))
    return findings


class _Expected:
    """Rows of the full pass of each sequence that a case leads to.

    One pass over a sequence serves all its beginnings, as in the law `schedule`; that these have
    the same rows is the law `prefix`.
    """

    def __init__(self, decoder: Guarded, case: Case) -> None:
        self._decoder = decoder
        reached = {
            row
            for branches in case.schedule.walk(case.tokens)
            for branch in branches.live.values()
            for row in branch.rows
        }
        self._sequences = sorted(reached, key=len, reverse=True)
        self._rows: dict[tuple[int, ...], Rows] = {}

    def of(self, sequence: Sequence[int]) -> Rows:
        """(len(sequence), width)."""
        wanted = tuple(sequence)
        whole = next(one for one in self._sequences if one[: len(wanted)] == wanted)
        if whole not in self._rows:
            self._rows[whole] = self._decoder.full(whole)
        return self._rows[whole][: len(wanted)]


def _law(
    name: str,
    *,
    operations: Sequence[str],
    needs: Sequence[str] = (),
    statement: str,
    reason: str,
    not_claimed: str,
    implies: dict[str, str],
) -> Law:
    chosen = frozenset(operations)
    run: Callable[[Guarded, Case], Finding] = partial(check, name, chosen)
    return Law(
        id=name,
        statement=statement,
        reason=reason,
        not_claimed=not_claimed,
        check=run,
        needs=tuple(needs),
        operations=chosen,
        implies=implies,
    )


_SUBSET = {"schedule": "a schedule without {} is one of its cases"}


def _over_schedules(operation: str) -> dict[str, str]:
    return {law: reason.format(operation) for law, reason in _SUBSET.items()}


LAWS = (
    _law(
        "branch",
        operations=("fork", "new"),
        statement="Forks and new caches continue independently of each other.",
        reason="Parallel samples, beams and other requests share a history and then diverge.",
        not_claimed="That forking is cheap, or that memory is shared; more than four at a time.",
        implies=_over_schedules("a fork"),
    ),
    _law(
        "crop",
        operations=("crop",),
        needs=("crop",),
        statement="A cache rolled back to n tokens is as good as one that never saw more.",
        reason="Speculative decoding takes back the tokens that were rejected.",
        not_claimed="Rollbacks that the decoder refuses (a window has evicted needed tokens), and "
        "rollbacks to nothing.",
        implies=_over_schedules("a rollback"),
    ),
    _law(
        "save",
        operations=("save",),
        needs=("save",),
        statement="A cache that was saved and loaded continues as if it had not been.",
        reason="Prompt caches are kept on disk and moved between machines.",
        not_claimed="That bytes can be loaded by another decoder or version, or are safe to load; "
        "that the cache that was saved is still usable.",
        implies=_over_schedules("saving"),
    ),
    _law(
        "reset",
        operations=("reset",),
        needs=("reset",),
        statement="A cache that was reset is as good as a new one.",
        reason="Servers keep their buffers and hand them to the next request.",
        not_claimed="That nothing of the old tokens remains in memory.",
        implies=_over_schedules("a reset"),
    ),
    _law(
        "batch",
        operations=("batch",),
        needs=("batch",),
        statement="Each sequence of a ragged batch gets the rows it gets alone.",
        reason="Which requests share a batch is the server's business, not the model's.",
        not_claimed="Batches larger than those drawn (up to 4 rows, 8 when merged); rows without "
        "new tokens.",
        implies={"padding": "alone and with companions, rows equal the same full pass"},
    ),
    _law(
        "reorder",
        operations=("batch", "reorder", "split", "merge"),
        needs=("batch", "reorder"),
        statement="Reordering, repeating, dropping, splitting and merging rows of a batch moves "
        "their histories along, in every layer.",
        reason="Beam search does it at every token, continuous batching at every request.",
        not_claimed="As for batch. Merging where it is not offered, or of more than two batches.",
        implies={"batch": "a batch that is never reordered is one of its cases"},
    ),
    _law(
        "programs",
        operations=(
            *("append", "fork", "new", "crop", "save", "reset", "release"),
            *("batch", "reorder", "split", "merge"),
        ),
        statement="Any sequence of all these operations leaves every branch with the rows of its "
        "own tokens, and the decoder's own invariants whole.",
        reason="Operations that are right one by one may go wrong together: say, a rollback into a "
        "block that a fork still shares.",
        not_claimed="Operations that are not offered; and all that the laws above do not claim.",
        implies=dict.fromkeys(
            ("schedule", "branch", "crop", "save", "reset", "batch", "reorder"),
            "its schedules are among these",
        ),
    ),
)
