"""Laws: pure functions of a decoder and a case.

A law knows the border, schedules and tolerances. It must not know the reference, Hypothesis or any
engine, so that random search, exhaustive certification and replay can share it. A law compares; the
judge decides what a difference amounts to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cachecheck.guard import Guarded, NotOfferedError, Rows
from cachecheck.members import CAPABILITIES
from cachecheck.schedule import Case, Schedule
from cachecheck.verdict import Finding


@dataclass(frozen=True)
class Law:
    """A property every right decoder has.

    Attributes:
        id: stable; appears in test ids, reports, the documentation and the command line.
        statement: the property, in one sentence.
        reason: the reason why it must hold.
        not_claimed: all that a decoder may get wrong although the law holds.
        check: tries it on one case.
        least_calls: cases with fewer calls show nothing.
        everywhere: True if it must hold on every case; False if it must show on at least one.
        unmoved: for a law that must show somewhere: its violation on a case where nothing moved.
        needs: capabilities without which it says nothing: ids of `members.CAPABILITIES`,
            ``window`` or ``max_length``.
        exact: True if it compares the same calls of the same shapes, on which rounding is the same.
        uses_cache: True if it makes cached calls; if not, an idle cache is no reason for doubt.
        compares_rows: True if it compares rows; if not, there is no rounding, and idle rows hide
            nothing.
        calls: decoder calls of a case, about, relative to a case of the law `schedule`.
        crosses: True if its cases have to be longer than the decoder's window.
        certified: True if `certify` covers it over all partitions of a sequence at once.
        operations: names of the operations in its cases besides calls on one branch; empty for
            plain schedules. ``batch`` stands for batches and calls on them.
        implies: laws that follow from this one, each with the reason.
    """

    id: str
    statement: str
    reason: str
    not_claimed: str
    check: Callable[[Guarded, Case], Finding]
    least_calls: int = 1
    everywhere: bool = True
    unmoved: Callable[[Case, Finding], Finding] | None = None
    needs: tuple[str, ...] = ()
    exact: bool = False
    uses_cache: bool = True
    compares_rows: bool = True
    calls: int = 1
    crosses: bool = False
    certified: bool = False
    operations: frozenset[str] = frozenset()
    implies: Mapping[str, str] = field(default_factory=dict)

    def lacking(self, decoder: Guarded) -> str | None:
        """Members that ``decoder`` would have to offer for this law; None if it has them."""
        declared = decoder.capabilities
        for name in self.needs:
            bound = {"window": declared.window, "max_length": declared.max_length}.get(name)
            if bound is None and name not in declared.offers:
                known = CAPABILITIES.get(name)
                return known.members if known else name
        return None

    def try_on(self, decoder: Guarded, case: Case) -> Finding:
        """Try the law on one case; at the end the decoder is told to release its caches.

        Raises:
            Unsupported: the decoder lacks what the law needs, or refuses.
            DecoderError: the decoder raised, or gave what cannot be used.
        """
        lacking = self.lacking(decoder)
        if lacking is not None:
            raise NotOfferedError(lacking)
        with decoder.fresh() as own:
            return self.check(own, case)


def feed(decoder: Guarded, tokens: Sequence[int], schedule: Schedule) -> tuple[list[Rows], Any]:
    """Decode ``tokens`` call by call from an empty cache: the rows of each call, and the cache."""
    cache = decoder.new_cache()
    rows = []
    for start, stop in schedule.spans:
        some, cache = decoder.extend(tokens[start:stop], cache)
        rows.append(some)
    return rows, cache
