"""Faults that fire late or rarely: how many cases it takes to meet them.

python -m benchmarks.late_faults searches with the law `schedule` on the reference with a mask that
is wrong under a condition alone, and writes ``evidence/late_faults.json``.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cachecheck.files import write_whole
from cachecheck.laws import LAWS
from cachecheck.reference import WRONG_MASKS, MaskRule, ReferenceDecoder, offset_mask
from cachecheck.search import search
from cachecheck.search.cases import Effort
from cachecheck.target import as_target

SEEDS = 20
OUT = Path(__file__).parent.parent / "evidence" / "late_faults.json"

Condition = Callable[[int, int, int], bool]  # past, chunk and size of the chunk before

FAULTS: dict[str, tuple[str, Condition]] = {
    "history of 16 or more, +1": ("offset-too-large", lambda past, _chunk, _last: past >= 16),
    "history of 16 or more, -1": ("offset-too-small", lambda past, _chunk, _last: past >= 16),
    "history of 20 or more": ("query-restart", lambda past, _chunk, _last: past >= 20),
    "chunk longer than its history": (
        "offset-too-large",
        lambda past, chunk, _last: chunk > past >= 1,
    ),
    "chunk longer than a history of 6": (
        "query-restart",
        lambda past, chunk, _last: chunk > past >= 6,
    ),
    "chunk of 12 or more": ("offset-too-large", lambda _past, chunk, _last: chunk >= 12),
    "history a multiple of 8": (
        "query-restart",
        lambda past, _chunk, _last: past > 0 and past % 8 == 0,
    ),
    "history of exactly 16": ("query-restart", lambda past, _chunk, _last: past == 16),
    "one token onto 16 or more": (
        "offset-too-small",
        lambda past, chunk, _last: chunk == 1 and past >= 16,
    ),
    "always, offset of the last chunk": ("last-chunk-offset", lambda *_: True),
    "chunk a multiple of 4": (
        "offset-too-large",
        lambda past, chunk, _last: past > 0 and chunk % 4 == 0,
    ),
    "chunk as long as the last": (
        "query-restart",
        lambda _past, chunk, last: chunk == last and chunk > 1,
    ),
    "one token after one token, onto 12": (
        "offset-too-small",
        lambda past, chunk, last: chunk == last == 1 and past >= 12,
    ),
}


def rule_of(name: str, condition: Condition) -> MaskRule:
    """The wrong mask ``name`` where the condition holds, the right one elsewhere."""
    wrong = WRONG_MASKS[name].rule

    def rule(query: Any, key: Any, *, window: int | None, sinks: int, last_chunk: int) -> Any:
        fires = condition(int(query[0]), len(query), last_chunk)
        chosen: MaskRule = wrong if fires else offset_mask
        return chosen(query, key, window=window, sinks=sinks, last_chunk=last_chunk)

    return rule  # type: ignore[return-value]  # named shorter than the protocol's arguments


def measure(fault: str) -> dict[str, Any]:
    """One fault over all seeds."""
    rule = rule_of(*FAULTS[fault])
    target = as_target(lambda seed: ReferenceDecoder(seed=seed, mask_rule=rule), fault)
    found = [search(LAWS["schedule"], target, Effort(seed=100 * s))[0] for s in range(SEEDS)]
    caught = [verdict.examples for verdict in found if verdict.answer.value == "VIOLATED"]
    return {
        "fault": fault,
        "seeds": SEEDS,
        "caught": len(caught),
        "examples_median": statistics.median(caught) if caught else None,
        "examples_worst": max(caught, default=None),
        "schedules": sorted({str(verdict.schedule) for verdict in found}),
    }


def main() -> None:
    """Measure all, print as it goes, write the file."""
    results = []
    for fault in FAULTS:
        results.append(measure(fault))
        print(results[-1], file=sys.stderr)
    write_whole(OUT, json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
