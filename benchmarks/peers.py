"""Other projects' test designs and ours, on the same faults with equally many decoder calls.

python -m benchmarks.peers runs every design of `benchmarks.peer_designs`, and the search over all
laws that a decoder unlocks, on every fault and, once each, on the right decoders, and writes
``evidence/peers.json``. Whatever a decoder is asked counts as a call, its state and its work
included. A design sees a fault in a run if any repetition fails; an exception other than a refusal
counts as a failure, which favours designs that check little.
"""

from __future__ import annotations

import argparse
import contextlib
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
from benchmarks.tables import Row, write_report
from cachecheck.errors import DecoderError, DecoderHangsError, Unsupported
from cachecheck.faults import FAULTS, fault_named
from cachecheck.guard import Guarded
from cachecheck.judge import Tally
from cachecheck.laws import LAWS
from cachecheck.search.cases import Effort, numbered_cases
from cachecheck.target import Target, as_target

CALLS, SEEDS = 400, 5
OUT = Path(__file__).parent.parent / "evidence" / "peers.json"

OURS = "cachecheck"
WHAT_OURS = "every law that the decoder unlocks in turn, cases drawn as the search draws them"

APPEND_ONLY = {law.id for law in LAWS.values() if not law.operations} - {"padding", "overflow"}
"""Laws that ask for nothing but calls with new tokens."""

Run = Callable[[Target, Random, int], tuple[bool, int]]
"""A design, run until it fails or the calls are spent: whether it failed, and the calls made."""

_DECODERS = 2**31  # seeds of decoders
_CHOICE = 256  # of which one case of ours picks one, so that it finds one that has what a law needs
_LOOKED_AT = 16  # decoders, before a law counts as not unlocked


def repeated(design: Design, target: Target, rng: Random, calls: int) -> tuple[bool, int]:
    """Attempt until one fails or the calls are spent: whether one failed, and the calls made.

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
    """Make one attempt; the caches are released where the decoder keeps accounts."""
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
    """Do the same with the laws, one case of each in turn."""
    first = rng.randrange(_DECODERS)
    seeds = range(first, first + _CHOICE)
    decoders = [target.make(seed) for seed in seeds[:_LOOKED_AT]]
    laws = [law for law in LAWS.values() if any(law.lacking(one) is None for one in decoders)]
    tallies = {law.id: Tally(law) for law in laws}
    effort = Effort(case_seed=str(rng.getrandbits(64)))
    numbered = {law.id: numbered_cases(target.make, seeds, law, effort) for law in laws}
    spent = 0
    for number, law in enumerate(cycle(laws)):
        drawn, tally = numbered[law.id](number), tallies[law.id]
        with contextlib.suppress(DecoderHangsError):  # noted as raised
            tally.attempt(drawn)
        wrong = bool(tally.raised) or tally.broken is not None
        spent += _calls(drawn.decoder)
        if wrong or spent >= calls:
            break
    return wrong or any(map(_shown_nowhere, tallies.values())), spent


def _calls(decoder: Guarded) -> int:
    """Count what was asked of it, and of its twin in float64 if there is one."""
    exact = vars(decoder).get("float64")  # only where it was looked at
    return decoder.calls + (exact.calls if exact is not None else 0)


def _shown_nowhere(tally: Tally) -> bool:
    """Whether a law that one case would establish was established by none."""
    most = None if tally.law.everywhere else tally.closest
    return most is not None and most[1].difference == 0


def measure(job: tuple[str, int], calls: int) -> dict[str, Any]:
    """Run every design on one fault, for one seed; and where it is due, on its right decoder."""
    name, seed = job
    fault = fault_named(name)
    found: dict[str, Any] = {"fault": name, "seed": seed}
    runs: dict[str, Run] = {OURS: searched, **{one.id: partial(repeated, one) for one in PEERS}}
    due = seed == 0 and fault is next(one for one in FAULTS.values() if one.right is fault.right)
    makes = {"caught_by": fault.make, **({"alarms": fault.right} if due else {})}
    for key, make in makes.items():
        target = as_target(make, name)
        found[key] = [
            design
            for design, run in runs.items()
            if run(target, Random(f"{name}/{design}/{seed}"), calls)[0]  # noqa: S311 - no secret
        ]
    return found


def summary(results: Sequence[dict[str, Any]], calls: int, seeds: int) -> dict[str, Any]:
    """The file's content; `benchmarks.pages.peers` adds up what each design saw."""
    what = {**{one.id: one.description for one in PEERS}, OURS: WHAT_OURS}
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


def _fault(runs: Sequence[dict[str, Any]], name: str, designs: Sequence[str]) -> Row:
    """For each design the seeds on which it saw the fault; who accused the right decoder."""
    law = FAULTS[name].law
    return {
        "id": name,
        "law": law,
        "append_only": law in APPEND_ONLY,
        **{design: sum(design in run["caught_by"] for run in runs) for design in designs},
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
    write_report(asked.out, summary(results, asked.calls, asked.seeds))
    print(f"{time.perf_counter() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
