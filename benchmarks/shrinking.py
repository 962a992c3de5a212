"""Schedules that the wrong masks shrink to, over many seeds: python -m benchmarks.shrinking.

Writes ``evidence/shrinking.json``: for each wrong mask and kind of position, how often each
smallest schedule came out, and how many cases it took to find the fault.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from cachecheck.files import write_whole
from cachecheck.laws import LAWS
from cachecheck.reference import WRONG_MASKS, Config, ReferenceDecoder
from cachecheck.search import search
from cachecheck.search.cases import Effort
from cachecheck.target import as_target

SEEDS = 40
OUT = Path(__file__).parent.parent / "evidence" / "shrinking.json"


def measure(name: str, config: Config) -> dict[str, Any]:
    """Search for one wrong mask on one configuration, over all seeds."""
    rule = WRONG_MASKS[name].rule
    target = as_target(lambda seed: ReferenceDecoder(config, seed=seed, mask_rule=rule), name)
    verdicts = [search(LAWS["schedule"], target, Effort(seed=seed))[0] for seed in range(SEEDS)]
    schedules = Counter(f"{verdict.answer.value} {verdict.schedule}" for verdict in verdicts)
    examples = [verdict.examples for verdict in verdicts]
    return {
        "mask": name,
        "positions": config.positions,
        "window": config.window,
        "seeds": SEEDS,
        "verdicts": dict(schedules.most_common()),
        "examples_median": statistics.median(examples),
        "examples_worst": max(examples),
    }


def main() -> None:
    """Measure all, print as it goes, write the file."""
    results = []
    for name in WRONG_MASKS:
        for positions in ("sinusoidal", "rotary", "alibi", "none"):
            window = 4 if name == "window-from-last-row" else None
            config = Config(positions=positions, window=window)
            results.append(measure(name, config))
            print(results[-1], file=sys.stderr)
    write_whole(OUT, json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
