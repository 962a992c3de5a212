"""Every program of cache operations up to a size, the smallest first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from cachecheck.certify.certificate import Certificate
from cachecheck.errors import DecoderError, InputError
from cachecheck.guard import Guarded, NotOfferedError
from cachecheck.judge import Tally, Trial, concluded
from cachecheck.laws import Law
from cachecheck.schedule import (
    FIRST,
    Append,
    Branches,
    Case,
    Crop,
    Fork,
    Merge,
    New,
    Release,
    Reorder,
    Reset,
    Save,
    Schedule,
    Step,
    branch_name,
)
from cachecheck.schedule.steps import sort_key
from cachecheck.verdict import Answer, Violation

ROWS = 2
"""Rows of a new batch, at most: a mistake between rows shows between two."""


@dataclass(frozen=True)
class Scope:
    """A set of programs: those of ``operations`` with at most this many tokens and steps.

    Attributes:
        operations: names of `OPERATIONS`, and ``batch``.
        tokens: appended in all.
        steps: calls and operations together.
        single: True if there are branches of one sequence; else batches alone.
        ends_bare: True if a program may end with an operation, for mistakes that show without rows.
    """

    operations: frozenset[str]
    tokens: int
    steps: int
    single: bool = True
    ends_bare: bool = False


def programs_up_to(scope: Scope) -> Iterator[Schedule]:
    """Every such program, in the order of ``shrink.size_of``."""
    for tokens in range(1, scope.tokens + 1):
        for count in range(1, scope.steps + 1):
            yield from map(Schedule, _continued((), Branches(), tokens, count, scope))


def _continued(
    done: tuple[Step, ...], branches: Branches, tokens: int, count: int, scope: Scope
) -> Iterator[tuple[Step, ...]]:
    """All continuations of ``done`` by ``count`` steps that append ``tokens`` tokens."""
    if count == 0:
        if tokens == 0 and any(isinstance(step, Append) for step in done):
            yield done
        return
    last = count == 1 and not scope.ends_bare
    if tokens == 0 and not scope.ends_bare:
        return
    for step in sorted(_possible(branches, tokens, scope), key=sort_key):
        appended = sum(step.sizes) if isinstance(step, Append) else 0
        if last and appended != tokens:
            continue
        ahead = Branches(dict(branches.live), set(branches.ended))
        ahead.apply(step, (0,) * appended)
        yield from _continued((*done, step), ahead, tokens - appended, count - 1, scope)


def _possible(branches: Branches, tokens: int, scope: Scope) -> Iterator[Step]:
    """Every step that fits and may change something."""
    fresh = branch_name(len(branches.live) + len(branches.ended))
    can = scope.operations
    if "new" in can and scope.single:
        yield New(fresh)
    if "batch" in can:
        yield from (New(fresh, rows) for rows in range(1, ROWS + 1))
    for name, branch in branches.live.items():
        if name == FIRST and not scope.single:
            continue
        yield from _calls(name, len(branch.rows), tokens)
        if "fork" in can:
            yield Fork(fresh, name)
        if "release" in can:
            yield Release(name)
        if branch.batch:
            yield from _on_batch(name, fresh, branches, can)
        else:
            yield from _on_single(name, branch.length, can)


def _calls(name: str, rows: int, tokens: int) -> Iterator[Step]:
    for sizes in product(range(1, tokens + 1), repeat=rows):
        if sum(sizes) <= tokens:
            yield Append(name, sizes)


def _on_single(name: str, length: int, can: Collection[str]) -> Iterator[Step]:
    if "crop" in can:
        yield from (Crop(name, left) for left in range(1, length + 1))
    if "save" in can:
        yield Save(name)
    if "reset" in can:
        yield Reset(name)


def _on_batch(name: str, fresh: str, branches: Branches, can: Collection[str]) -> Iterator[Step]:
    count = len(branches.live[name].rows)
    for size in range(1, ROWS + 1):
        for rows in product(range(count), repeat=size):
            if "reorder" in can and rows != tuple(range(count)):
                yield Reorder(name, rows)
            if "split" in can:
                yield Fork(fresh, name, rows)
    if "merge" in can:
        for other, branch in branches.live.items():
            if branch.batch and other != name:
                yield Merge(fresh, (name, other))


def certify_programs(
    decoder: Guarded,
    law: Law,
    *,
    tokens: int,
    steps: int,
    thorough: bool = False,
    ids: Sequence[int] | None = None,
    on_program: Callable[[int], None] = lambda _count: None,
) -> Certificate:
    """Try ``law`` on every program of its operations with at most so many tokens and steps.

    Args:
        decoder: to be checked.
        law: one with operations.
        tokens: appended in all, at most.
        steps: calls and operations together, at most.
        thorough: go on where the decoder raises, to find mistakes elsewhere; and let any operation
            come last, where the decoder's own invariants may show a mistake.
        ids: tokens to append, as many as ``tokens``; 1, 2 and so on by default.
        on_program: called with the number of programs tried so far.

    Raises:
        InputError: a law without operations.
        Unsupported: the decoder lacks what the law needs.
        DecoderError: the decoder raised, or gave what cannot be used.
    """
    if not law.operations:
        raise InputError(f"{law.id} is about calls alone; give --law schedule")
    if tokens < 1 or steps < 1:
        raise InputError(f"expected at least 1 token and 1 step; got {tokens} and {steps}")
    lacking = law.lacking(decoder)
    if lacking is not None:
        raise NotOfferedError(lacking)
    scope = _scope(decoder, law, tokens, steps, thorough=thorough)
    run, before = ProgramRuns(decoder, law, continue_after_errors=thorough), decoder.calls
    # From 1: a pad is often token 0, and before a real 0 it would change nothing.
    ids = tuple(ids or (at % decoder.vocab_size for at in range(1, tokens + 1)))
    room = decoder.capabilities.max_length
    for schedule in programs_up_to(scope):
        if room is not None and schedule.longest > room:
            continue
        on_program(run.tally.tried_cases + 1)
        case = Case(ids[: schedule.length], schedule)
        violation = run.violation(case)
        if violation is not None:
            smaller = f"None of the {run.tally.tried_cases - 1:,} smaller programs fails."
            found = run.certificate(Answer.VIOLATED, decoder.calls - before, smaller)
            return replace(found, schedule=str(schedule), tokens=case.tokens, violation=violation)
    if run.tally.refusals and not run.tally.examples:
        raise run.tally.refusals[0]
    verdict = concluded(run.tally)
    named = ", ".join(sorted(scope.operations))
    line = (
        f"Each of the {run.tally.tried_cases:,} programs of {named} with at most {tokens} tokens "
        f"and {steps} steps was run"
    )
    if "batch" in scope.operations:
        line += f", batches made with at most {ROWS} rows"
    line += "."
    found = run.certificate(verdict.answer, decoder.calls - before, line)
    largest = verdict.largest_difference or 0.0
    return replace(found, reasons=verdict.reasons, largest_difference=largest)


class ProgramRuns:
    """Programs on which a law is tried one by one, counted."""

    def __init__(self, decoder: Guarded, law: Law, *, continue_after_errors: bool = False) -> None:
        self.decoder, self.law, self.continue_after_errors = decoder, law, continue_after_errors
        self.tally = Tally(law)

    def violation(self, case: Case) -> Violation | None:
        """Try one; its violation, or None if there is none."""
        judged = self.tally.attempt(Trial(0, self.decoder, case))
        if judged is not None:
            return judged.finding.violation if judged.wrong else None
        raised = self.tally.raised
        if raised and raised[-1][0].case == case and not self.continue_after_errors:
            error = raised[-1][1]
            raise DecoderError(f"on {case.schedule}: {error}") from error
        return None

    def certificate(self, answer: Answer, calls: int, line: str) -> Certificate:
        """The certificate of all that were tried, with one line on what is proved."""
        count = len(self.tally.refusals)
        left = (f"{count:,} were refused: {self.tally.refusals[0]}",) if count else ()
        closest = self.tally.closest
        return Certificate(
            law=self.law.id,
            answer=answer,
            method="enumeration",
            covered=self.tally.tried_cases,
            calls=calls,
            proves=(line, *left),
            largest_difference=closest[1].difference if closest else 0.0,
        )


def _scope(decoder: Guarded, law: Law, tokens: int, steps: int, *, thorough: bool) -> Scope:
    offered = "check_invariants" in decoder.capabilities.offers
    batches = bool(law.operations & {"batch"})
    offers = decoder.performable
    return Scope(
        operations=law.operations & offers,
        tokens=tokens,
        steps=steps,
        single=not batches or bool(law.operations & {"crop", "save", "reset", "new"}),
        ends_bare=offered and (thorough or "release" in law.operations),
    )
