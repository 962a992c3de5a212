"""Deliberately broken caches are caught by the law they name, in their smallest schedule."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from cachecheck.cases import Effort
from cachecheck.certify import certify, certify_programs
from cachecheck.errors import InputError
from cachecheck.faults import FAULTS, Fault
from cachecheck.faults.batches import BATCHES
from cachecheck.faults.blocks import BLOCKS
from cachecheck.faults.buffers import BUFFERS
from cachecheck.faults.crops import CROPS
from cachecheck.faults.forks import FORKS
from cachecheck.faults.recurrence import RECURRENCE
from cachecheck.faults.saving import SAVING
from cachecheck.faults.windows import WINDOWS
from cachecheck.guard import Guarded
from cachecheck.laws import LAWS
from cachecheck.reference.caches import CACHES
from cachecheck.search import search
from cachecheck.target import as_target
from cachecheck.verdict import Answer

pytestmark = pytest.mark.slow

CERTIFIED = {
    "static-fork-shares-buffers": "b=a 1 b:1 1",
    "shared-tip-overwritten": "b=a 1 b:1 1",
    "paged-no-copy-on-write": "1 b=a 1 b:1 1",
    "hybrid-reorder-skips-layer": "b=new*2 b:1/1 c=b[1] c:1",
    "batched-merge-swaps-rows": "b=new*1 b:1 c=new*1 d=b&c d:1/1",
    "static-overflow-clamps": "1",  # no smaller schedule is possible
}
"""What takes seconds to certify, as benchmarks/broken_caches.py has found it."""

GROUPS = (FORKS, BLOCKS, CROPS, WINDOWS, SAVING, BUFFERS, BATCHES, RECURRENCE)

by_fault = pytest.mark.parametrize("fault", FAULTS.values(), ids=list(FAULTS))


def smallest(fault: Fault, decoder: Guarded) -> str | None:
    """The smallest failing schedule, from an enumeration of all."""
    if fault.id in CERTIFIED:
        return CERTIFIED[fault.id]
    law = LAWS[fault.law]
    if law.operations:
        found = certify_programs(decoder, law, tokens=fault.tokens, steps=fault.steps)
        return found.schedule
    return certify(decoder, fault.tokens).schedule


@by_fault
def test_a_fault_is_caught_by_its_law_and_shrunk_to_the_smallest_schedule(fault: Fault) -> None:
    target = as_target(fault.make, fault.id)
    verdict, _ = search(LAWS[fault.law], target, Effort(seed=0))
    assert verdict.answer is Answer.VIOLATED, verdict.message
    assert verdict.decoder_seed is not None
    assert verdict.schedule == smallest(fault, target.make(verdict.decoder_seed))


@by_fault
def test_the_right_kind_passes_the_law_that_catches_its_fault(fault: Fault) -> None:
    target = as_target(CACHES[fault.kind], fault.kind)
    verdict, _ = search(LAWS[fault.law], target, Effort(seed=0, examples=8))
    assert verdict.answer is Answer.HOLDS, verdict.message


@by_fault
def test_one_call_and_a_token_a_call_are_right_wherever_the_mistake_allows(fault: Fault) -> None:
    decoder = Guarded(fault.make(0))
    tokens = [1, 0, 1, 1, 0, 1]
    singles = fault.id not in {"hybrid-convolution-forgets", "sinks-evicted"}
    for size in (len(tokens), 1)[: 1 + singles]:
        cache = decoder.new_cache()
        for start in range(0, len(tokens), size):
            stop = start + size
            rows, cache = decoder.extend(tokens[start:stop], cache)
            due = decoder.full(tokens[:stop])[start:]
            assert (abs(rows - due) <= decoder.bounds(due)).all()


def test_ids_are_in_kebab_case_and_begin_with_their_kind() -> None:
    for name, fault in FAULTS.items():
        assert name == fault.id
        assert re.fullmatch(r"[a-z]+(-[a-z]+)+", name)
        assert name.startswith(f"{fault.kind}-")
        assert fault.kind in CACHES
        assert fault.law in LAWS


def test_ids_are_unique_and_symptoms_are_one_sentence_each() -> None:
    assert sum(map(len, GROUPS)) == len(FAULTS)
    symptoms = [fault.symptom for fault in FAULTS.values()]
    assert len(set(symptoms)) == len(symptoms)
    for symptom in symptoms:
        assert symptom[0].isupper()
        assert re.fullmatch(r"[^.]+\.", symptom)


def test_the_hybrid_decoder_reorders_batches_and_refuses_what_is_none() -> None:
    """What its fault about pads is a fault of."""
    target = as_target(CACHES["hybrid"], "hybrid")
    verdict, _ = search(LAWS["reorder"], target, Effort(seed=0, examples=8))
    assert verdict.answer is Answer.HOLDS, verdict.message
    decoder = CACHES["hybrid"](0)
    batch = decoder.new_batch_cache(2)
    assert set(decoder.state(batch)[0]) == {"0.tail", "0.carry", "1.tail", "1.carry"}
    calls: list[Callable[[], object]] = [
        lambda: decoder.new_batch_cache(0),
        lambda: decoder.extend_batch([[1]], batch),
        lambda: decoder.reorder(batch, [2]),
        lambda: decoder.reorder(decoder.new_cache(), [0]),
        lambda: CACHES["hybrid"](1).extend_batch([[1], [1]], batch),
    ]
    for call in calls:
        with pytest.raises(InputError):
            call()
