"""Batches whose rows grow alike after the first call: drawn so, checked so, and refused otherwise.

Run alone: python -m pytest tests/test_even_batches.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from cachecheck import strategies as cs
from cachecheck.errors import TargetError, Unsupported
from cachecheck.guard import Guarded
from cachecheck.laws import LAWS
from cachecheck.reference.caches.batched import BatchedDecoder, batched
from cachecheck.schedule import Append, Branches, Schedule
from cachecheck.search import search
from cachecheck.search.cases import Effort, numbered
from cachecheck.target import as_target
from cachecheck.verdict import Answer

BATCHES = frozenset({"fork", "split", "reorder", "release", "batch"})


def programs(most: int) -> SearchStrategy[Schedule]:
    """Programs of even batches."""
    return cs.programs(operations=BATCHES, max_length=most, batches_alone=True, even_batches=True)


@given(st.integers(2, 24), st.data())
def test_programs_for_even_batches_are_ragged_in_first_calls_alone(
    most: int, data: st.DataObject
) -> None:
    schedule = data.draw(programs(most))
    branches = Branches()
    for step in schedule.steps:
        if isinstance(step, Append):
            if branches.live[step.branch].length:
                assert len(set(step.sizes)) == 1
            branches.apply(step, (0,) * sum(step.sizes))
        else:
            branches.apply(step)
    assert schedule.longest <= most


def test_first_calls_are_ragged_often() -> None:
    program = numbered(programs(24), "0")
    drawn = [program(number) for number in range(100)]
    firsts = [next(s for s in one.steps if isinstance(s, Append)) for one in drawn]
    assert sum(len(set(first.sizes)) > 1 for first in firsts) > 50


class Even:
    """The batched reference decoder, with pads in front of a prompt and nowhere else."""

    even_batches = True

    def __init__(self, seed: int) -> None:
        self._decoder: BatchedDecoder = batched(seed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._decoder, name)

    def extend_batch(self, arrays: Sequence[Any], cache: Any) -> Any:
        if cache.lengths.any() and len({len(array) for array in arrays}) > 1:
            raise Unsupported("pads between tokens")
        return self._decoder.extend_batch(arrays, cache)


@pytest.mark.parametrize("law", ["padding", "batch", "reorder"])
def test_a_decoder_that_refuses_uneven_calls_is_checked_without_refusals(law: str) -> None:
    verdict, _ = search(LAWS[law], as_target(Even, "even"), Effort(examples=25))
    assert verdict.answer is Answer.HOLDS
    assert "refused" not in verdict.message


def test_a_fault_in_the_padding_of_even_batches_is_found() -> None:
    class Wrong(Even):
        def extend_batch(self, arrays: Sequence[Any], cache: Any) -> Any:
            rows, after = super().extend_batch(arrays, cache)
            uneven = len({len(array) for array in arrays}) > 1
            return [row + 0.1 * uneven for row in rows], after

    for law in ("padding", "batch"):
        verdict, _ = search(LAWS[law], as_target(Wrong, "wrong"), Effort(examples=25))
        assert verdict.answer is Answer.VIOLATED


def test_a_fault_of_even_batches_shrinks_to_a_token_a_row() -> None:
    class Wrong(Even):
        def reorder(self, cache: Any, rows: Sequence[int]) -> Any:
            right = self._decoder.reorder(cache, rows)
            return self._decoder.reorder(cache, (0,) * len(rows)) if len(rows) > 1 else right

    verdict, _ = search(LAWS["reorder"], as_target(Wrong, "wrong"), Effort(examples=50))
    assert verdict.answer is Answer.VIOLATED
    assert verdict.schedule is not None
    calls = [step for step in verdict.schedule.split() if ":" in step]
    assert all(set(call.split(":")[1]) <= set("1/+") for call in calls), verdict.schedule


def test_the_declaration_is_a_flag() -> None:
    class Wrong(Even):
        even_batches = "yes"  # type: ignore[assignment]

    with pytest.raises(TargetError, match="even_batches must be True or False; got 'yes'"):
        Guarded(Wrong(0))
