"""The law that companions in a batch, and the padding they bring, change nothing."""

from __future__ import annotations

from cachecheck.guard import Guarded, Rows
from cachecheck.laws.base import Law
from cachecheck.laws.comparison import RowComparison, gather
from cachecheck.schedule import Case, Schedule
from cachecheck.schedule.tokens import changed
from cachecheck.verdict import Finding


def check(decoder: Guarded, case: Case) -> Finding:
    """Decode a sequence as the only row of a batch, then beside another of other lengths.

    The decoder is compared with itself, so that rows that are wrong without companions, too, are
    left to `batch`.
    """
    decoder.need("batch")
    alone = _rows(decoder, case, companion=False)
    beside = _rows(decoder, case, companion=True)
    calls = _companion_schedule(decoder, case)
    companion = _other_tokens(decoder, case, more=1)[: calls.length]
    comparison = RowComparison(
        "padding",
        "companion",
        "a sequence's rows change with what else is in the batch: here a second sequence, "
        f"{companion}, in calls of {calls}",
    )
    findings = [
        comparison.of(got, due, decoder.bounds(due), position=start, call=call, sequence=0)
        for call, (got, due, (start, _stop)) in enumerate(
            zip(beside, alone, case.schedule.spans, strict=True), start=1
        )
    ]
    if "full_batch" in decoder.capabilities.offers:
        (due,) = decoder.full_batch([case.tokens])
        _, got = decoder.full_batch([_longer(decoder, case), case.tokens])
        padded = RowComparison(
            "padding",
            "full-batch",
            f"full_batch: a sequence's rows change beside {_longer(decoder, case)}, the first in "
            "the batch",
        )
        findings.append(padded.of(got, due, decoder.bounds(due), position=0, sequence=1))
    return gather(findings)


def _rows(decoder: Guarded, case: Case, *, companion: bool) -> list[Rows]:
    """The rows of each call."""
    others = _other_tokens(decoder, case, more=1)  # even companions may be one longer
    backwards = _companion_schedule(decoder, case)
    cache = decoder.new_batch_cache(2 if companion else 1)
    rows = []
    spans = zip(case.schedule.spans, backwards.spans, strict=True)
    for (start, stop), (other_start, other_stop) in spans:
        arrays = [case.tokens[start:stop]]
        if companion:
            arrays.append(tuple(others[other_start:other_stop]))
        some, cache = decoder.extend_batch(arrays, cache)
        rows.append(some[0])
    return rows


def _companion_schedule(decoder: Guarded, case: Case) -> Schedule:
    """The companion's calls: as long as the case's own from last to first.

    Where a batch goes on in step, only the first may be of another length: one token, or two.
    """
    chunks = case.schedule.chunks
    if decoder.capabilities.even_batches:
        most = decoder.capabilities.max_length
        longer = chunks[0] == 1 and (most is None or len(case.tokens) < most)
        return Schedule.of((2 if longer else 1, *chunks[1:]))
    return Schedule.of(chunks[::-1])


def _longer(decoder: Guarded, case: Case) -> list[int]:
    """Other tokens, one more than the case has where there is room."""
    others = _other_tokens(decoder, case)
    most = decoder.capabilities.max_length
    return others if most is not None and len(others) >= most else [0, *others]


def _other_tokens(decoder: Guarded, case: Case, *, more: int = 0) -> list[int]:
    return [*changed(case.tokens, 0, len(case.tokens), decoder.vocab_size), *(0,) * more]


LAW = Law(
    id="padding",
    statement="A sequence's rows in a batch do not depend on its companions or their lengths.",
    reason="Pad tokens only fill up an array; no row may attend to one, and no state may take one "
    "in.",
    not_claimed="That the rows are right: batch compares them with full.",
    check=check,
    needs=("batch",),
)
