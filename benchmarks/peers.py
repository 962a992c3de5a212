"""What other projects' test designs see of the same faults, and what ours does, for equal calls.

python -m benchmarks.peers runs every design of `benchmarks.peer_designs`, and the search over all
laws that a decoder unlocks, on every fault and, once each, on the right decoders, and writes
``evidence/peers.json``. Whatever a decoder is asked counts as a call, its state and its work
included. A design sees a fault in a run if any repetition fails; an exception other than a refusal
counts as a failure, which favours designs that check little.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.peer_designs import PEERS, Design
from cachecheck.errors import DecoderError, DecoderHangsError, Unsupported
from cachecheck.faults import FAULTS, fault_named
from cachecheck.files import write_whole
from cachecheck.guard import Guarded
from cachecheck.laws import LAWS
from cachecheck.search.cases import Effort, numbered_cases
from cachecheck.search.tally import LawBrokenError, Tally
from cachecheck.target import Target, as_target

CALLS, SEEDS = 400, 5
OUT = Path(__file__).parent.parent / "evidence" / "peers.json"

OURS = "cachecheck"
WHAT_OURS = "every law that the decoder unlocks in turn, cases drawn as the search draws them"

APPEND_ONLY = {law.id for law in LAWS.values() if not law.operations} - {"padding", "overflow"}
"""Laws that ask for nothing but calls with new tokens."""

Run = Callable[[Target, Random, int], tuple[bool, int]]
"""Of a design until it fails or the calls are spent: whether it failed, and the calls made."""

_DECODERS = 2**31  # seeds of decoders
_CHOICE = 256  # of which one case of ours picks one, so that it finds one that has what a law needs
_LOOKED_AT = 16  # decoders, before a law counts as not unlocked


def repeated(design: Design, target: Target, rng: Random, calls: int) -> tuple[bool, int]:
    """Whether an attempt fails before the calls are spent, and the calls made.

    Each decoder is tried twice, so that what the first attempt leaves behind may show.
    """
    spent = 0
    while spent < calls:
        decoder = target.make(rng.randrange(_DECODERS))
        for _ in range(2):
            before = decoder.calls
            wrong = _fails(design, decoder, rng)
            spent += decoder.calls - before
            if wrong or spent >= calls:
                return wrong, spent
    return False, spent


def _fails(design: Design, decoder: Guarded, rng: Random) -> bool:
    """One attempt; the caches are released where the decoder keeps accounts."""
    try:
        if design.attempt(decoder, rng):
            return True
        decoder.release_all()
    except DecoderError:
        return True
    except Unsupported:
        pass
    return False


def searched(target: Target, rng: Random, calls: int) -> tuple[bool, int]:
    """The same for the laws, one case of each in turn."""
    first = rng.randrange(_DECODERS)
    seeds = range(first, first + _CHOICE)
    decoders = [target.make(seed) for seed in seeds[:_LOOKED_AT]]
    laws = [law for law in LAWS.values() if any(law.lacking(one) is None for one in decoders)]
    seen = {law.id: Tally(law, lambda _seen: None) for law in laws}
    effort = Effort(case_seed=str(rng.getrandbits(64)))
    numbered = {law.id: numbered_cases(target.make, seeds, law, effort) for law in laws}
    spent = 0
    for number, law in enumerate(cycle(laws)):
        drawn = numbered[law.id](number)
        try:
            seen[law.id].attempt(drawn)
            wrong = bool(seen[law.id].raised)
        except (LawBrokenError, DecoderHangsError):
            wrong = True
        spent += _calls(drawn.decoder)
        if wrong or spent >= calls:
            break
    return wrong or any(map(_shown_nowhere, seen.values())), spent


def _calls(decoder: Guarded) -> int:
    """What was asked of it, and of its twin in float64 if there is one."""
    exact = vars(decoder).get("float64")  # only where it was looked at
    return decoder.calls + (exact.calls if exact is not None else 0)


def _shown_nowhere(seen: Tally) -> bool:
    """Whether a law that one case would establish was established by none."""
    most = None if seen.law.everywhere else seen.closest
    return most is not None and most.difference == 0


def measure(job: tuple[str, int], calls: int) -> dict[str, Any]:
    """Every design on one fault, for one seed; and where it is due, on its right decoder."""
    name, seed = job
    fault = fault_named(name)
    found: dict[str, Any] = {"fault": name, "seed": seed}
    runs: dict[str, Run] = {OURS: searched, **{one.id: partial(repeated, one) for one in PEERS}}
    due = seed == 0 and fault is next(one for one in FAULTS.values() if one.right is fault.right)
    makes = {"seen": fault.make, **({"alarms": fault.right} if due else {})}
    for key, make in makes.items():
        target = as_target(make, name)
        found[key] = [
            design
            for design, run in runs.items()
            if run(target, Random(f"{name}/{design}/{seed}"), calls)[0]  # noqa: S311 - no secret
        ]
    return found


def summary(results: Sequence[dict[str, Any]], calls: int, seeds: int) -> dict[str, Any]:
    """The file; `docs/peers_table.py` adds up what each design saw."""
    what = {**{one.id: one.what for one in PEERS}, OURS: WHAT_OURS}
    return {
        "calls": calls,
        "seeds": seeds,
        "ours": OURS,
        "designs": what,
        "faults": [
            _fault([one for one in results if one["fault"] == name], name, list(what))
            for name in dict.fromkeys(one["fault"] for one in results)
        ],
    }


def _fault(runs: Sequence[dict[str, Any]], name: str, designs: Sequence[str]) -> dict[str, Any]:
    """The share of runs in which each design saw it; who accused its right decoder, if run."""
    law = FAULTS[name].law
    return {
        "id": name,
        "law": law,
        "append_only": law in APPEND_ONLY,
        "seen": {
            design: round(sum(design in run["seen"] for run in runs) / len(runs), 3)
            for design in designs
        },
        "alarms": next((run["alarms"] for run in runs if "alarms" in run), None),
    }


def main() -> None:
    """Measure all, print as it goes, write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("-n", type=int, default=2, help="processes")
    parser.add_argument("--only", nargs="+", default=list(FAULTS), metavar="ID")
    parser.add_argument("--out", type=Path, default=OUT)
    asked = parser.parse_args()
    jobs = [(name, seed) for name in asked.only for seed in range(asked.seeds)]
    results, began = [], time.perf_counter()
    with ProcessPoolExecutor(asked.n) as pool:
        for result in pool.map(partial(measure, calls=asked.calls), jobs):
            results.append(result)
            print(f"{len(results)} of {len(jobs)}: {result}", file=sys.stderr)
    found = json.dumps(summary(results, asked.calls, asked.seeds), indent=2)
    write_whole(asked.out, found + "\n")
    print(f"{time.perf_counter() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
